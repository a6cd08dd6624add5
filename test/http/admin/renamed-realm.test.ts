import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { administrator, helper } from '../administrator.ts';
import { CookieJar } from '../browser/cookie-jar.ts';
import { find } from '../pages/read-page.ts';
import { form, startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

/** A name that has to be escaped in a URL. */
const RENAMED = 'größe und mehr';

test('a renamed realm has its account pages and its console under the new name', async () => {
  const admin = await administrator(service);
  const alice = { ...helper('alice'), clientRoles: { account: ['manage-account'] } };
  const made = await admin('POST', '', { realm: 'acme', enabled: true, users: [alice] });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  assert.equal((await admin('PUT', '/acme', { realm: RENAMED })).status, 204);

  const path = encodeURIComponent(RENAMED);
  const jar = new CookieJar();
  const account = `${service.address}/realms/${path}/account/`;
  const toLogin = (await jar.fetch(account)).headers.get('location')!;
  const login = await (await jar.fetch(toLogin)).text();
  const action = find(login, '#kc-form-login').attributes['action']!;
  const done = await jar.fetch(action, form({ username: 'alice', password: 'pw' }));
  const back = done.headers.get('location')!;
  assert.ok(back.startsWith(account), back);
  const page = await jar.fetch((await jar.fetch(back)).headers.get('location')!);
  assert.equal(find(await page.text(), '#kc-account-username').text, 'alice');

  const clients = (await admin('GET', `/${path}/clients`)).json as {
    clientId: string;
    baseUrl?: string;
    redirectUris: string[];
  }[];
  const addresses = (clientId: string) => {
    const found = clients.find((client) => client.clientId === clientId)!;
    return [found.baseUrl, ...found.redirectUris];
  };
  const pages = [`/realms/${path}/account/`, `/realms/${path}/account/*`];
  assert.deepEqual(addresses('account'), pages);
  assert.deepEqual(addresses('account-console'), pages);
  assert.deepEqual(addresses('security-admin-console'), [
    `/admin/${path}/console/`,
    `/admin/${path}/console/*`,
  ]);
});
