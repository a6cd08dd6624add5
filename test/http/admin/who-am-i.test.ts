import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { administrator, helper } from '../administrator.ts';
import { CookieJar } from '../browser/cookie-jar.ts';
import { find } from '../pages/read-page.ts';
import { form, login, SECRETS, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
  const admin = await administrator(service);
  const users = [helper('boss', 'realm-admin'), helper('clerk', 'query-users'), helper('alice')];
  const made = await admin('POST', '', { realm: 'acme', enabled: true, users });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(() => service.stop());

/** Gets an access token of a realm's console with the code flow. */
async function consoleToken(realm: string, username: string, password: string): Promise<string> {
  const verifier = 'v'.repeat(43);
  const redirect_uri = `${service.address}/admin/${realm}/console/`;
  const client = { client_id: 'security-admin-console', redirect_uri };
  const parameters = new URLSearchParams({
    ...client,
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const jar = new CookieJar();
  const url = `${service.address}/realms/${realm}/protocol/openid-connect/auth?${parameters}`;
  const action = find(await (await jar.fetch(url)).text(), '#kc-form-login').attributes['action']!;
  const done = await jar.fetch(action, form({ username, password }));
  const code = new URL(done.headers.get('location')!).searchParams.get('code')!;
  const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, ...client };
  const answer = await fetch(tokenUrl(service, realm), form(grant));
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function ask(token: string, realm = 'master', query = '') {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${service.address}/admin/${realm}/console/whoami${query}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
  return { status: answer.status, json: (await answer.json()) as any };
}

test('whoami returns the user and the roles in every realm to the console of master (docs/keycloak/admin-api.md#whoami)', async () => {
  const { IDKIT_ADMIN_USERNAME: name, IDKIT_ADMIN_PASSWORD: password } = SECRETS;
  const token = await consoleToken('master', name, password);
  const { status, json } = await ask(token);
  assert.equal(status, 200, JSON.stringify(json));
  const { userId, realm_access: access, ...rest } = json;
  assert.deepEqual(rest, {
    realm: 'master',
    displayName: name,
    locale: 'en',
    createRealm: true,
    trashDays: 7,
  });
  assert.match(userId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(Object.keys(access).sort(), ['acme', 'master']);
  assert.ok(access.acme.includes('manage-users') && access.master.includes('view-realm'));
  const one = (await ask(token, 'master', '?currentRealm=acme')).json;
  assert.deepEqual(Object.keys(one.realm_access), ['acme']);
});

test('whoami returns only the roles of one realm to that realm’s console', async () => {
  const boss = (await ask(await consoleToken('acme', 'boss', 'pw'), 'acme')).json;
  assert.deepEqual([boss.realm, boss.displayName, boss.createRealm], ['acme', 'A B', false]);
  assert.deepEqual(Object.keys(boss.realm_access), ['acme']);
  assert.ok(boss.realm_access.acme.includes('realm-admin'));
  const clerk = (await ask(await consoleToken('acme', 'clerk', 'pw'), 'acme')).json;
  assert.deepEqual(clerk.realm_access, { acme: ['query-users'] });
  const alice = await ask(await consoleToken('acme', 'alice', 'pw'), 'acme');
  assert.deepEqual([alice.status, alice.json.realm_access], [200, {}]);
});

test('whoami rejects requests without a token, from another client or for another realm', async () => {
  const { access_token: token } = await login(service);
  const refused = await ask(token!);
  assert.equal(refused.status, 403);
  assert.match(refused.json.error, /not the admin console: admin-cli/);
  assert.equal((await ask('x')).status, 401);
  const boss = await consoleToken('acme', 'boss', 'pw');
  assert.equal((await ask(boss, 'master')).status, 401);
});
