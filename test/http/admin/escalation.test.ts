import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitUntil } from '../../wait-until.ts';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { form, startTestService, type TestService, tokenUrl } from '../service.ts';

const OWN_CLIENT = { clientId: 'job', serviceAccountsEnabled: true, secret: 'job-secret' };

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const users = [
    helper('users', 'manage-users'),
    helper('clients', 'manage-clients'),
    helper('both', 'manage-users', 'manage-clients'),
    helper('realm', 'manage-realm'),
    helper('three', 'manage-realm', 'manage-users', 'view-realm'),
    helper('all', 'manage-realm', 'manage-users', 'manage-clients', 'view-realm'),
    helper('chief', 'realm-admin'),
  ];
  const { status } = await admin('POST', '', { realm: 'x', enabled: true, users, clients: [OWN_CLIENT] });
  assert.equal(status, 201);
});
after(() => service.stop());

async function as(username: string): Promise<AdminApi> {
  const { body } = await loginAs(service, 'x', { username, password: 'pw' });
  return adminApi(service, body['access_token']!);
}

async function idOf(kind: 'users' | 'clients' | 'groups', name: string): Promise<string> {
  const query = {
    users: `username=${name}&exact=true`,
    clients: `clientId=${name}`,
    groups: `search=${name}`,
  };
  return (await admin('GET', `/x/${kind}?${query[kind]}`)).json[0].id;
}

test('manage-clients does not allow creating, renaming, extending or deleting an administrative role', async () => {
  const clients = await as('clients');
  const management = await idOf('clients', 'realm-management');
  const path = `/x/clients/${management}/roles`;
  const role = (await admin('GET', `${path}/realm-admin`)).json;
  const query = (await admin('GET', `${path}/query-clients`)).json;
  for (const [method, at, body] of [
    ['PUT', `/x/roles-by-id/${role.id}`, { name: 'other' }],
    ['PUT', `${path}/query-clients`, { name: 'manage-realm' }],
    ['POST', path, { name: 'new-role' }],
    ['DELETE', `${path}/manage-events`, undefined],
    ['POST', `${path}/query-clients/composites`, [role]],
    ['DELETE', `${path}/view-clients/composites`, [query]],
  ] as const)
    assert.equal((await clients(method, at, body)).status, 403, `${method} ${at}`);
});

test('no caller can give the management client’s name to another client', async () => {
  const both = await as('both');
  const management = await idOf('clients', 'realm-management');
  assert.equal((await both('POST', '/x/clients', { clientId: 'fake' })).status, 201);
  const fake = await idOf('clients', 'fake');
  assert.equal((await both('PUT', `/x/clients/${management}`, { clientId: 'aside' })).status, 403);
  assert.equal((await both('PUT', `/x/clients/${fake}`, { clientId: 'realm-management' })).status, 403);
  assert.equal((await both('PUT', `/x/clients/${fake}`, { clientId: 'fake-2' })).status, 204);
});

test('manage-users does not allow moving a group below a group with administrative roles', async () => {
  const users = await as('users');
  const management = await idOf('clients', 'realm-management');
  const role = (await admin('GET', `/x/clients/${management}/roles/realm-admin`)).json;
  await admin('POST', '/x/groups', { name: 'chiefs' });
  const chiefs = await idOf('groups', 'chiefs');
  const granted = await admin('POST', `/x/groups/${chiefs}/role-mappings/clients/${management}`, [role]);
  assert.equal(granted.status, 204);
  assert.equal((await users('POST', '/x/groups', { name: 'mine' })).status, 201);
  const mine = await idOf('groups', 'mine');
  const me = await idOf('users', 'users');
  assert.equal((await users('PUT', `/x/users/${me}/groups/${mine}`)).status, 204);
  assert.equal((await users('POST', `/x/groups/${chiefs}/children`, { id: mine, name: 'mine' })).status, 403);
  assert.equal((await users('PUT', `/x/users/${me}/groups/${chiefs}`)).status, 403);
  assert.equal((await users('GET', '/x/events/config')).status, 403);
});

test("a mapper that writes another user's id into sub does not grant that user's rights (RFC 8725 §3.9)", async () => {
  const clients = await as('clients');
  const [job, chief] = [await idOf('clients', 'job'), await idOf('users', 'chief')];
  const config = { 'claim.name': 'sub', 'claim.value': chief, 'access.token.claim': 'true' };
  const mapper = {
    name: 'sub',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config,
  };
  assert.equal((await clients('POST', `/x/clients/${job}/protocol-mappers/models`, mapper)).status, 201);
  const fields = { grant_type: 'client_credentials', client_id: 'job', client_secret: 'job-secret' };
  const answer = (await (await fetch(tokenUrl(service, 'x'), form(fields))).json()) as Record<string, string>;
  assert.equal((await adminApi(service, answer['access_token']!)('GET', '/x/users')).status, 401);
});

test('a token without sub that was issued to a deleted client is not valid for a new client with the same id', async () => {
  const slim = {
    clientId: 'slim',
    secret: 'one',
    serviceAccountsEnabled: true,
    attributes: { 'client.use.lightweight.access.token.enabled': 'true' },
  };
  const tokenOf = async (secret: string): Promise<string> => {
    const fields = { grant_type: 'client_credentials', client_id: 'slim', client_secret: secret };
    const answer = await fetch(tokenUrl(service, 'x'), form(fields));
    return ((await answer.json()) as Record<string, string>)['access_token']!;
  };
  const ask = async (token: string) => (await adminApi(service, token)('GET', '/x/users')).status;
  assert.equal((await admin('POST', '/x/clients', slim)).status, 201);
  const old = await tokenOf('one');
  // This user is authenticated, but does not have any right.
  assert.equal(await ask(old), 403);
  const second = Math.floor(Date.now() / 1000);
  assert.equal((await admin('DELETE', `/x/clients/${await idOf('clients', 'slim')}`)).status, 204);
  await waitUntil('the next second begins', () => Math.floor(Date.now() / 1000) > second);
  assert.equal((await admin('POST', '/x/clients', { ...slim, secret: 'two' })).status, 201);
  assert.equal(await ask(old), 401);
  assert.equal(await ask(await tokenOf('two')), 403);
});

test('a partial import cannot grant an administrative role through any of its records', async () => {
  const all = await as('all');
  const admins = { client: { 'realm-management': ['realm-admin'] } };
  for (const body of [
    { ifResourceExists: 'OVERWRITE', roles: { realm: [{ name: 'default-roles-x', composites: admins }] } },
    {
      roles: {
        realm: [
          { name: 'one', composites: { realm: ['two'] } },
          { name: 'two', composites: admins },
        ],
      },
    },
    { roles: { client: { 'realm-management': [{ name: 'more' }] } } },
    { ifResourceExists: 'OVERWRITE', roles: { client: { 'realm-management': [{ name: 'query-users' }] } } },
    { users: [{ username: 'sly', clientRoles: admins.client }] },
    { groups: [{ name: 'sly', clientRoles: admins.client }] },
  ])
    assert.equal((await all('POST', '/x/partialImport', body)).status, 403, JSON.stringify(body));
});

test('a partial import of a service account needs manage-clients, and a client gets no second one', async () => {
  const account = { username: 'job-two', serviceAccountClientId: 'job' };
  assert.equal((await (await as('three'))('POST', '/x/partialImport', { users: [account] })).status, 403);
  const all = await as('all');
  const second = await all('POST', '/x/partialImport', { users: [account] });
  assert.deepEqual(
    [second.status, second.json.errorMessage],
    [409, 'The client of user job-two already has the service account service-account-job.'],
  );
  const own = { users: [{ ...account, username: 'service-account-job' }], ifResourceExists: 'OVERWRITE' };
  assert.equal((await all('POST', '/x/partialImport', own)).status, 200);
  const job = await idOf('clients', 'job');
  const { json } = await admin('GET', `/x/clients/${job}/service-account-user`);
  assert.equal(json.username, 'service-account-job');
});

test('a role whose id concatenates the ids of two other roles does not grant either of them', async () => {
  const three = await as('three');
  const ids = (await admin('GET', '/x/roles')).json.slice(0, 2).map((role: { id: string }) => role.id);
  const { status, json } = await three('POST', '/x/roles', { id: ids.join(' '), name: 'joined' });
  assert.equal(status, 400);
  assert.match(json.error_description, /\$\.id: must be an id/);
});

test('rejects an administrator of one realm in every other realm and in master (docs/keycloak/admin-api.md#who-may-call)', async () => {
  await admin('POST', '', { realm: 'y', enabled: true });
  const chief = await as('chief');
  assert.equal((await chief('GET', '/x/users')).status, 200);
  for (const path of ['/y', '/y/users', '/master', '/master/clients'])
    assert.equal((await chief('GET', path)).status, 403, path);
  assert.equal((await chief('POST', '', { realm: 'z' })).status, 403);
});

test('rejects tokens of another type or key: ID token, refresh token, alg none, HS256 with the public key', async () => {
  const { body } = await loginAs(service, 'x', { username: 'chief', password: 'pw', scope: 'openid' });
  const [head, payload, signature] = body['access_token']!.split('.') as [string, string, string];
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const token of [
    body['id_token']!,
    body['refresh_token']!,
    `${encode({ alg: 'none', kid })}.${payload}.`,
    `${encode({ alg: 'HS256', kid })}.${payload}.${signature}`,
    `${encode({ alg: 'RS256', kid: '__proto__' })}.${payload}.${signature}`,
  ])
    assert.equal((await adminApi(service, token)('GET', '/x/users')).status, 401, token.slice(0, 40));
});

test('create-realm lets a caller administer only realms that the caller created (docs/keycloak/admin-api.md#roles)', async () => {
  const password = 'Maker-Password-1';
  const credentials = [{ type: 'password', value: password }];
  await admin('POST', '/master/users', { username: 'maker', enabled: true, credentials });
  const { id } = (await admin('GET', '/master/users?username=maker')).json[0];
  const role = (await admin('GET', '/master/roles/create-realm')).json;
  await admin('POST', `/master/users/${id}/role-mappings/realm`, [role]);
  const { body } = await loginAs(service, 'master', { username: 'maker', password });
  const maker = adminApi(service, body['access_token']!);
  assert.equal((await maker('POST', '', { realm: 'made', enabled: true })).status, 201);
  assert.equal((await maker('POST', '/made/users', { username: 'first' })).status, 201);
  assert.deepEqual(
    (await maker('GET', '')).json.map((realm: { realm: string }) => realm.realm),
    ['made'],
  );
  for (const path of ['/x', '/x/users', '/master/users'])
    assert.equal((await maker('GET', path)).status, 403);
  const all = (await admin('GET', '/master/roles/admin')).json;
  assert.equal((await maker('POST', `/master/users/${id}/role-mappings/realm`, [all])).status, 403);
});
