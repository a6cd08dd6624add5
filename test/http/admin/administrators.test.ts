import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { makePlatform, startTestService, type TestService } from '../service.ts';

const MASK = '**********';
const SECRETS = { secret: 'job-secret', attributes: { 'client.secret.rotated': 'old-secret' } };
const REALM = {
  realm: 'x',
  enabled: true,
  users: [
    helper('users', 'manage-users', 'view-users'),
    helper('clients', 'manage-clients'),
    helper('viewer', 'view-clients'),
    helper('realm', 'manage-realm'),
    helper('all', 'manage-realm', 'manage-users', 'manage-clients', 'view-realm'),
    helper('chief', 'realm-admin'),
    helper('inherits'),
    helper('person'),
    helper('asker', 'query-users', 'query-groups'),
    {
      username: 'service-account-chief-job',
      enabled: true,
      serviceAccountClientId: 'chief-job',
      clientRoles: { 'realm-management': ['realm-admin'] },
    },
  ],
  clients: [
    { clientId: 'job', serviceAccountsEnabled: true, ...SECRETS },
    { clientId: 'chief-job', serviceAccountsEnabled: true, ...SECRETS },
    {
      clientId: 'narrow',
      publicClient: true,
      directAccessGrantsEnabled: true,
      fullScopeAllowed: false,
      defaultClientScopes: ['basic'],
      optionalClientScopes: ['managing'],
    },
  ],
  clientScopes: [
    { name: 'basic', protocol: 'openid-connect', protocolMappers: [subMapper()] },
    { name: 'managing', protocol: 'openid-connect', attributes: { 'include.in.token.scope': 'true' } },
  ],
  clientScopeMappings: { 'realm-management': [{ clientScope: 'managing', roles: ['realm-admin'] }] },
  groups: [
    {
      name: 'chiefs',
      clientRoles: { 'realm-management': ['realm-admin'] },
      subGroups: [{ name: 'deputies' }],
    },
    { name: 'plain' },
  ],
  roles: {
    realm: [
      { name: 'boss', composites: { client: { 'realm-management': ['view-realm'] } } },
      { name: 'harmless' },
    ],
  },
};

function subMapper() {
  return {
    name: 'sub',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-sub-mapper',
    config: { 'access.token.claim': 'true' },
  };
}

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const made = await admin('POST', '', REALM);
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const deputies = await groupId('deputies');
  assert.equal((await admin('PUT', `/x/users/${await userId('inherits')}/groups/${deputies}`)).status, 204);
});
after(() => service.stop());

async function as(username: string, more: Record<string, string> = {}): Promise<AdminApi> {
  const { body } = await loginAs(service, 'x', { username, password: 'pw', ...more });
  return adminApi(service, body['access_token']!);
}
const userId = async (name: string, api = admin): Promise<string> =>
  (await api('GET', `/x/users?username=${name}&exact=true`)).json[0].id;
const clientId = async (name: string): Promise<string> =>
  (await admin('GET', `/x/clients?clientId=${name}`)).json[0].id;
const groupId = async (name: string): Promise<string> => {
  const [found] = (await admin('GET', `/x/groups?search=${name}&briefRepresentation=false`)).json;
  return found.name === name ? found.id : found.subGroups[0].id;
};

test('masks the secrets of clients for callers who may view clients, but not for those who may manage them (Keycloak 26.8)', async () => {
  const path = `/x/clients/${await clientId('job')}`;
  for (const [username, shown, rotated] of [
    ['viewer', MASK, MASK],
    ['clients', 'job-secret', 'old-secret'],
  ] as const) {
    const api = await as(username);
    const one = (await api('GET', path)).json;
    const [listed] = (await api('GET', '/x/clients?clientId=job')).json;
    for (const client of [one, listed])
      assert.deepEqual([client.secret, client.attributes['client.secret.rotated']], [shown, rotated]);
    assert.equal((await api('GET', `${path}/client-secret`)).json.value, shown);
    assert.equal((await api('GET', `${path}/client-secret/rotated`)).json.value, rotated);
    assert.ok(shown !== MASK || !/job-secret|old-secret/.test(JSON.stringify([one, listed])));
  }
});

test('only callers who may grant administrative roles may change a user who holds them', async () => {
  const [users, chief] = [await as('users'), await as('chief')];
  for (const name of ['chief', 'inherits', 'viewer']) {
    const path = `/x/users/${await userId(name)}`;
    const before = (await admin('GET', path)).json;
    const [credential] = (await admin('GET', `${path}/credentials`)).json;
    for (const [method, at, body] of [
      ['PUT', `${path}/reset-password`, { type: 'password', value: 'mine' }],
      ['PUT', path, { email: 'mine@example.test' }],
      ['PUT', path, { credentials: [{ type: 'password', value: 'mine' }] }],
      ['PUT', path, { requiredActions: ['UPDATE_PASSWORD'] }],
      ['DELETE', `${path}/credentials/${credential.id}`, undefined],
      ['PUT', `${path}/credentials/${credential.id}/userLabel`, 'mine'],
      ['DELETE', path, undefined],
    ] as const)
      assert.equal((await users(method, at, body)).status, 403, `${name}: ${method} ${at}`);
    assert.deepEqual((await admin('GET', path)).json, before);
    assert.equal((await loginAs(service, 'x', { username: name, password: 'pw' })).status, 200);
    assert.equal((await chief('PUT', path, { firstName: 'C' })).status, 204);
  }
  const person = `/x/users/${await userId('person')}`;
  const reset = { type: 'password', value: 'other' };
  assert.equal((await users('PUT', `${person}/reset-password`, reset)).status, 204);
  assert.equal((await users('PUT', person, { firstName: 'P' })).status, 204);
});

test('only callers who may grant an administrative role may revoke it', async () => {
  const all = await as('all');
  const [chief, inherits] = [await userId('chief'), await userId('inherits')];
  const [chiefs, deputies, plain] = [
    await groupId('chiefs'),
    await groupId('deputies'),
    await groupId('plain'),
  ];
  const management = await clientId('realm-management');
  const role = (await admin('GET', `/x/clients/${management}/roles/realm-admin`)).json;
  const view = (await admin('GET', `/x/clients/${management}/roles/view-realm`)).json;
  const mappings = `role-mappings/clients/${management}`;
  for (const [method, at, body] of [
    ['DELETE', `/x/users/${chief}/${mappings}`, [role]],
    ['DELETE', `/x/groups/${chiefs}/${mappings}`, [role]],
    ['DELETE', `/x/users/${inherits}/groups/${deputies}`, undefined],
    ['POST', '/x/groups', { id: deputies, name: 'deputies' }],
    ['POST', `/x/groups/${plain}/children`, { id: chiefs, name: 'chiefs' }],
    ['DELETE', `/x/groups/${deputies}`, undefined],
    ['DELETE', `/x/groups/${chiefs}`, undefined],
    ['DELETE', '/x/roles/boss/composites', [view]],
    ['DELETE', '/x/roles/boss', undefined],
    ['DELETE', `/x/clients/${management}/roles/view-realm`, undefined],
  ] as const)
    assert.equal((await all(method, at, body)).status, 403, `${method} ${at}`);
  const person = await userId('person');
  assert.equal((await all('PUT', `/x/users/${person}/groups/${plain}`)).status, 204);
  assert.equal((await all('DELETE', `/x/users/${person}/groups/${plain}`)).status, 204);
  assert.equal((await all('DELETE', `/x/groups/${plain}`)).status, 204);
  assert.equal((await all('DELETE', '/x/roles/harmless')).status, 204);
  const chiefApi = await as('chief');
  assert.equal((await chiefApi('DELETE', '/x/roles/boss')).status, 204);
});

test('the administrative API uses only the roles that the scopes of the token grant (Keycloak 26.8)', async () => {
  const without = await as('chief', { client_id: 'narrow' });
  assert.equal((await without('GET', '/x/users')).status, 403);
  const granted = await as('chief', { client_id: 'narrow', scope: 'managing' });
  assert.equal((await granted('GET', '/x/users')).status, 200);
});

test('a partial import requires the right to make each of its changes, and never overwrites an administrator', async () => {
  const client = { clients: [{ clientId: 'new' }] };
  const bodies = {
    clients: client,
    clientRoles: { roles: { client: { job: [{ name: 'worker' }] } } },
    users: { users: [{ username: 'new' }] },
    groups: { groups: [{ name: 'new' }] },
  };
  const realm = await as('realm');
  for (const [what, body] of Object.entries(bodies))
    assert.equal((await realm('POST', '/x/partialImport', body)).status, 403, what);
  assert.equal(
    (await realm('POST', '/x/partialImport', { roles: { realm: [{ name: 'new' }] } })).status,
    200,
  );
  const all = await as('all');
  for (const [what, body] of Object.entries(bodies))
    assert.equal((await all('POST', '/x/partialImport', body)).status, 200, what);
  for (const body of [
    { users: [{ username: 'chief', credentials: [{ type: 'password', value: 'mine' }] }] },
    { groups: [{ name: 'chiefs' }] },
    {
      clients: [{ clientId: 'realm-management' }],
      roles: { client: { 'realm-management': [{ name: 'x' }] } },
    },
  ])
    assert.equal(
      (await all('POST', '/x/partialImport', { ifResourceExists: 'OVERWRITE', ...body })).status,
      403,
      JSON.stringify(body),
    );
  assert.equal((await loginAs(service, 'x', { username: 'chief', password: 'pw' })).status, 200);
});

test('manage-clients does not reveal the secret of a client whose service account is an administrator', async () => {
  const clients = await as('clients');
  const [found] = (await clients('GET', '/x/clients?clientId=chief-job')).json;
  const path = `/x/clients/${found.id}`;
  assert.equal(found.secret, MASK);
  assert.equal(found.attributes['client.secret.rotated'], MASK);
  assert.equal((await clients('GET', path)).json.secret, MASK);
  assert.equal((await clients('GET', `${path}/client-secret`)).json.value, MASK);
  assert.equal((await clients('GET', `${path}/client-secret/rotated`)).json.value, MASK);
  for (const [method, at, body] of [
    ['POST', `${path}/client-secret`, undefined],
    ['PUT', path, { secret: 'mine' }],
    ['PUT', path, { publicClient: true }],
    ['PUT', path, { clientId: 'aside' }],
    ['PUT', path, { clientAuthenticatorType: 'client-jwt', attributes: { 'jwks.url': 'https://a.test/' } }],
    ['PUT', path, { serviceAccountsEnabled: false }],
  ] as const)
    assert.equal((await clients(method, at, body)).status, 403, `${method} ${JSON.stringify(body)}`);
  // The caller may change all other fields, and sends masked values back unchanged.
  assert.equal((await clients('PUT', path, { ...found, description: 'other' })).status, 204);
  const [after] = (await admin('GET', '/x/clients?clientId=chief-job')).json;
  assert.deepEqual(
    [after.secret, after.attributes['client.secret.rotated'], after.description],
    [SECRETS.secret, SECRETS.attributes['client.secret.rotated'], 'other'],
  );
  const chief = await as('chief');
  assert.equal((await chief('GET', `${path}/client-secret`)).json.value, SECRETS.secret);
  assert.equal((await chief('PUT', path, { secret: SECRETS.secret, name: 'n' })).status, 204);
});

test('manage-realm allows generating keys but not importing them, because the owner of an imported key could sign any token', async () => {
  const realm = await as('realm');
  const key = (config: object) => ({
    name: 'mine',
    providerId: 'hmac-generated',
    providerType: 'org.keycloak.keys.KeyProvider',
    config: { priority: ['200'], algorithm: ['HS512'], ...config },
  });
  const secret = [Buffer.alloc(64, 1).toString('base64url')];
  assert.equal((await realm('POST', '/x/components', key({ secret }))).status, 403);
  const made = await realm('POST', '/x/components', key({}));
  assert.equal(made.status, 201);
  const path = `/x/components/${made.headers.get('location')!.split('/').at(-1)}`;
  assert.equal((await realm('PUT', path, key({ secret }))).status, 403);
  assert.equal((await realm('PUT', path, { config: { priority: ['50'] } })).status, 204);
  const chief = await as('chief');
  assert.equal((await chief('POST', '/x/components', key({ secret }))).status, 201);
});

test('a caller with only query-users and query-groups sees neither users nor groups, nor their numbers', async () => {
  const asker = await as('asker');
  assert.equal((await admin('POST', '/x/groups', { name: 'hidden' })).status, 201);
  assert.deepEqual((await asker('GET', '/x/users')).json, []);
  assert.equal((await asker('GET', '/x/users/count?email=chief@example.test')).json, 0);
  assert.deepEqual((await asker('GET', '/x/groups?briefRepresentation=false')).json, []);
  const [hidden] = (await admin('GET', '/x/groups?search=hidden')).json;
  assert.equal((await asker('GET', `/x/groups/${hidden.id}`)).status, 403);
  assert.equal((await asker('GET', `/x/groups/${hidden.id}/children`)).status, 403);
});

test('with admin.protectAdministrators: false, manage-users allows changing administrators, as in Keycloak', async () => {
  const platform = makePlatform();
  appendFileSync(join(platform.dir, 'idkit.yaml'), 'admin: { protectAdministrators: false }\n');
  const open = await startTestService({ platform });
  try {
    const master = await administrator(open);
    assert.equal((await master('POST', '', REALM)).status, 201);
    const { body } = await loginAs(open, 'x', { username: 'users', password: 'pw' });
    const users = adminApi(open, body['access_token']!);
    const chief = await userId('chief', users);
    const reset = { type: 'password', value: 'mine' };
    assert.equal((await users('PUT', `/x/users/${chief}/reset-password`, reset)).status, 204);
    assert.equal((await users('DELETE', `/x/users/${chief}`)).status, 204);
    const clients = await loginAs(open, 'x', { username: 'clients', password: 'pw' });
    const [job] = (
      await adminApi(open, clients.body['access_token']!)('GET', '/x/clients?clientId=chief-job')
    ).json;
    assert.equal(job.secret, SECRETS.secret);
  } finally {
    await open.stop();
    platform.remove();
  }
});
