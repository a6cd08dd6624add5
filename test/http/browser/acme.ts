import assert from 'node:assert/strict';
import { find } from '../pages/read-page.ts';
import { form, type TestService } from '../service.ts';
import type { CookieJar } from './cookie-jar.ts';

/** The headers of a browser that requests a page. */
export const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** The representation of a user of the realm acme with all rights to their account. */
export function person(username: string) {
  return {
    username,
    enabled: true,
    email: `${username}@example.test`,
    emailVerified: true,
    firstName: 'Given',
    lastName: 'Family',
    realmRoles: ['default-roles-acme', 'offline_access'],
    credentials: [{ type: 'password', value: passwordOf(username) }],
  };
}

export function passwordOf(username: string): string {
  return `password-of-${username}`;
}

/**
 * Opens a URL and follows redirects within the service, as a browser does. Does not follow a redirect to another
 * origin.
 */
export async function openPage(service: TestService, jar: CookieJar, url: string): Promise<Response> {
  let answer = await jar.fetch(url, { headers: html });
  for (let step = 0; step < 5 && answer.headers.get('location')?.startsWith(service.address); step++)
    answer = await jar.fetch(answer.headers.get('location')!, { headers: html });
  return answer;
}

/** Logs in on the login page and returns the next page. */
export async function logInAt(
  service: TestService,
  jar: CookieJar,
  url: string,
  username: string,
): Promise<Response> {
  const page = await (await openPage(service, jar, url)).text();
  const action = find(page, '#kc-form-login').attributes['action']!;
  const answer = await jar.fetch(action, form({ username, password: passwordOf(username) }));
  assert.equal(answer.status, 302);
  const to = answer.headers.get('location')!;
  return to.startsWith(service.address) ? openPage(service, jar, to) : answer;
}
