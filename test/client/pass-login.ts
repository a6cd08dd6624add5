import assert from 'node:assert/strict';

/** Submits the login form as a browser does, and returns the address to which the service redirects. */
export async function passLogin(url: URL, username: string): Promise<string> {
  const page = await fetch(url);
  const cookie = page.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const [, action = ''] = /action="([^"]+)"/.exec(await page.text()) ?? [];
  const response = await fetch(new URL(action.replaceAll('&amp;', '&'), url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ username, password: `change-me-${username}` }),
    redirect: 'manual',
  });
  return response.headers.get('location') ?? assert.fail(`the login returned ${response.status}`);
}
