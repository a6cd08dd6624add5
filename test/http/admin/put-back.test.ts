import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;
let admin: AdminApi;

const GONE = '0b9e4b1a-6c1f-4a53-9a8e-000000000001';

before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'x',
    enabled: true,
    roles: {
      realm: [
        { name: 'editor' },
        { name: 'chief', composites: { client: { 'realm-management': ['realm-admin'] } } },
      ],
    },
    groups: [
      { name: 'chiefs', realmRoles: ['chief'] },
      { name: 'staff', realmRoles: ['editor'] },
    ],
    clients: [{ clientId: 'orders', serviceAccountsEnabled: true, secret: 'orders-secret' }],
    users: [
      helper('users', 'manage-users'),
      helper('clients', 'manage-clients'),
      helper('realm', 'manage-realm'),
      helper('all', 'manage-realm', 'manage-users', 'manage-clients', 'view-realm'),
      helper('viewer', 'view-users', 'view-clients', 'view-realm'),
      helper('chief', 'realm-admin'),
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(() => service.stop());

async function as(username: string): Promise<AdminApi> {
  const { body } = await loginAs(service, 'x', { username, password: 'pw' });
  return adminApi(service, body['access_token']!);
}

async function find(kind: 'users' | 'clients' | 'groups', name: string): Promise<Record<string, string>> {
  const query = {
    users: `username=${name}&exact=true`,
    clients: `clientId=${name}`,
    groups: `search=${name}`,
  };
  const [found] = (await admin('GET', `/x/${kind}?${query[kind]}`)).json;
  return found;
}

const putBack = (api: AdminApi, body: unknown, query = '') => api('POST', `/x/put-back${query}`, body);
const person = (username: string, fields: object = {}) => ({
  records: { users: [{ id: GONE, username, enabled: true, email: `${username}@example.test`, ...fields }] },
});

test('rejects a caller who lacks the right to create a record of the request', async () => {
  const records = {
    user: person('new'),
    client: { records: { clients: [{ clientId: 'new' }] } },
    clientRole: { records: { roles: { client: { orders: [{ id: GONE, name: 'new' }] } } } },
    realmRole: { records: { roles: { realm: [{ id: GONE, name: 'new' }] } } },
    group: { records: { groups: [{ id: GONE, name: 'new' }] } },
    member: { records: {}, members: [{ userId: GONE, roles: [] }] },
    serviceAccount: { records: { users: [{ id: GONE, username: 'sa', serviceAccountClientId: 'orders' }] } },
  };
  const refused = {
    users: ['client', 'clientRole', 'realmRole', 'serviceAccount'],
    clients: ['user', 'realmRole', 'group', 'member'],
    realm: ['user', 'client', 'clientRole', 'group', 'member', 'serviceAccount'],
    viewer: Object.keys(records),
  };
  for (const [caller, names] of Object.entries(refused)) {
    const api = await as(caller);
    for (const name of names)
      for (const query of ['', '?dryRun=true']) {
        const { status } = await putBack(api, records[name as keyof typeof records], query);
        assert.equal(status, 403, `${caller} ${name} ${query}`);
      }
  }
  assert.equal(await find('clients', 'new'), undefined);
  assert.equal(await find('users', 'new'), undefined);
});

test('rejects a put-back that grants an administrative role to any record', async () => {
  const all = await as('all');
  const orders = await find('clients', 'orders');
  const chiefRole = (await admin('GET', '/x/roles/chief')).json;
  const staff = await find('groups', 'staff');
  const me = await find('users', 'all');
  const management = { 'realm-management': ['realm-admin'] };
  const references = { roles: [{ id: chiefRole.id, name: 'harmless' }], groups: [] };
  for (const body of [
    person('sly', { clientRoles: management }),
    person('sly', { realmRoles: ['chief'] }),
    person('sly', { groups: ['/chiefs'] }),
    { ...person('sly', { realmRoles: ['harmless'] }), references },
    { records: { groups: [{ id: GONE, name: 'sly', clientRoles: management }] } },
    {
      records: {
        groups: [{ id: GONE, name: 'sly', parentId: (await find('groups', 'chiefs'))['id'] }],
        users: [{ username: 'sly', groups: ['/sly'] }],
      },
      references: {},
    },
    { records: { roles: { realm: [{ id: GONE, name: 'sly', composites: { client: management } }] } } },
    {
      records: {
        roles: { client: { orders: [{ id: GONE, name: 'sly', composites: { realm: ['chief'] } }] } },
      },
    },
    { records: { roles: { client: { 'realm-management': [{ id: GONE, name: 'manage-all' }] } } } },
    { records: {}, members: [{ userId: me['id'], roles: [chiefRole.id] }] },
    { records: {}, members: [{ userId: me['id'], groups: [(await find('groups', 'chiefs'))['id']] }] },
    { records: {}, composites: [{ groupId: staff['id'], roles: [chiefRole.id] }] },
    {
      records: {},
      composites: [{ roleId: (await admin('GET', '/x/roles/editor')).json.id, roles: [chiefRole.id] }],
    },
    {
      records: {
        clients: [{ id: GONE, clientId: 'sly', serviceAccountsEnabled: true, secret: 's' }],
        users: [{ username: 'service-account-sly', serviceAccountClientId: 'sly', clientRoles: management }],
      },
    },
  ])
    for (const query of ['?dryRun=true', '', '?overwrite=true'])
      assert.equal((await putBack(all, body, query)).status, 403, `${query} ${JSON.stringify(body)}`);
  assert.equal((await admin('GET', `/x/clients/${orders['id']}/roles`)).json.length, 0);
  assert.equal(await find('users', 'sly'), undefined);
});

test('does not overwrite an administrator or the secret of an administrator’s client without the right to grant their roles', async () => {
  const all = await as('all');
  const chief = await find('users', 'chief');
  const stolen = { credentials: [{ type: 'password', value: 'stolen' }] };
  const body = { records: { users: [{ id: chief['id'], username: 'chief', enabled: true, ...stolen }] } };
  assert.equal((await putBack(all, body, '?overwrite=true')).status, 403);
  assert.equal((await putBack(all, body)).json.results[0].action, 'kept');
  assert.equal((await loginAs(service, 'x', { username: 'chief', password: 'pw' })).status, 200);
});

test('finds a renamed role by its id, reports one that was created again, and reports a lost one', async () => {
  const editor = (await admin('GET', '/x/roles/editor')).json;
  await admin('PUT', '/x/roles/editor', { ...editor, name: 'writer' });
  await admin('POST', '/x/roles', { name: 'editor' });
  const references = {
    roles: [
      { id: editor.id, name: 'editor' },
      { id: GONE, name: 'offline_access' },
      { id: GONE.replace('1a', '1b'), name: 'lost' },
    ],
  };
  const body = { ...person('ada', { realmRoles: ['editor', 'offline_access', 'lost'] }), references };
  const { status, json } = await putBack(await as('users'), body);
  assert.equal(status, 200, JSON.stringify(json));
  assert.deepEqual(json.notes, [
    'the realm role offline_access exists with another id, because it was created again; the current one is used',
    'user ada: the realm role lost is lost, because it does not exist',
  ]);
  const mapped = (await admin('GET', `/x/users/${GONE}/role-mappings`)).json;
  const names = mapped.realmMappings.map(({ name }: { name: string }) => name).sort();
  assert.deepEqual(names, ['offline_access', 'writer']);
  await admin('DELETE', `/x/users/${GONE}`);
  await admin('DELETE', '/x/roles/editor');
  await admin('PUT', '/x/roles/writer', { ...editor, name: 'editor' });
});

test('a taken username, email, clientId or group name is a clash with a way out, and nothing is stored', async () => {
  const taken = (await find('users', 'viewer'))['email'];
  const bodies: [object, RegExp][] = [
    [person('viewer'), /the username viewer is taken by another user; rename or delete/],
    [person('eve', { email: taken }), /the email of eve is taken by user viewer/],
    [
      { records: { clients: [{ id: GONE, clientId: 'orders', secret: 's' }] } },
      /client orders exists with another id/,
    ],
    [{ records: { groups: [{ id: GONE, name: 'staff' }] } }, /a group \/staff exists with another id/],
    [
      { records: { groups: [{ id: GONE, name: 'a', parentId: GONE }] } },
      /the parent of group a does not exist/,
    ],
    [
      { records: { users: [{ id: GONE, username: 's', serviceAccountClientId: 'none' }] } },
      /client none .* does not exist/,
    ],
    [
      { records: { users: [{ id: GONE, username: 's', serviceAccountClientId: 'orders' }] } },
      /orders has another service account/,
    ],
  ];
  for (const [body, what] of bodies) {
    const planned = await putBack(admin, body, '?dryRun=true');
    assert.equal(planned.status, 200);
    assert.match(planned.json.clashes[0].what, what);
    const refused = await putBack(admin, body);
    assert.equal(refused.status, 409);
    assert.match(refused.json.errorMessage, what);
  }
  assert.equal((await admin('GET', `/x/users/${GONE}`)).status, 404);
});

test('a dry run stores nothing', async () => {
  const { status, json } = await putBack(admin, person('ada'), '?dryRun=true');
  assert.equal(status, 200);
  assert.deepEqual(json.results, [{ action: 'created', kind: 'user', name: 'ada', id: GONE }]);
  assert.equal((await admin('GET', `/x/users/${GONE}`)).status, 404);
});

test('a user comes back with ids, order of credentials, required actions and federated identities, and old tokens stay invalid', async () => {
  const credential = (id: string, value: string, priority: number) => ({
    id: `0b9e4b1a-6c1f-4a53-9a8e-0000000000${id}`,
    type: 'otp',
    userLabel: value,
    createdDate: 1,
    priority,
    secretData: JSON.stringify({ value }),
    credentialData: JSON.stringify({
      subType: 'totp',
      digits: 6,
      counter: 0,
      period: 30,
      algorithm: 'HmacSHA1',
    }),
  });
  const federatedIdentities = [{ identityProvider: 'corp', userId: '17', userName: 'ada' }];
  const body = person('ada', {
    requiredActions: ['UPDATE_PROFILE'],
    federatedIdentities,
    credentials: [credential('12', 'second', 20), credential('11', 'first', 10)],
    createdTimestamp: 17,
  });
  assert.equal((await putBack(admin, body)).status, 200);
  const user = (await admin('GET', `/x/users/${GONE}`)).json;
  assert.deepEqual(user.requiredActions, ['UPDATE_PROFILE']);
  assert.equal(user.createdTimestamp, 17);
  assert.ok(user.notBefore > 0);
  const credentials = (await admin('GET', `/x/users/${GONE}/credentials`)).json;
  assert.deepEqual(
    credentials.map(({ userLabel }: { userLabel: string }) => userLabel),
    ['first', 'second'],
  );
  assert.equal((await putBack(admin, body)).json.results[0].action, 'kept');
  await admin('DELETE', `/x/users/${GONE}`);
});

test('parallel put-backs of the same user create it once', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => putBack(admin, person('ada'))));
  const created = answers.filter(
    ({ status, json }) => status === 200 && json.results[0].action === 'created',
  );
  assert.equal(created.length, 1, JSON.stringify(answers.map(({ status, json }) => [status, json])));
  for (const { status } of answers) assert.ok(status === 200 || status === 409);
  await admin('DELETE', `/x/users/${GONE}`);
});

test('rejects a body of another shape with 400', async () => {
  for (const body of [
    {},
    { records: [] },
    { records: { users: 'all' } },
    { records: {}, references: [] },
    { records: {}, references: { roles: [{ name: 'no id' }] } },
    { records: {}, members: [{ roles: [] }] },
    { records: {}, composites: [{ roles: [] }] },
    { records: { users: [{ id: 'not an id', username: 'x' }] } },
  ])
    assert.equal((await putBack(admin, body)).status, 400, JSON.stringify(body));
});
