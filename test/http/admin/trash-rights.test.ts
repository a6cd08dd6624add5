import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type AdminAnswer,
  type AdminApi,
  adminApi,
  administrator,
  helper,
  loginAs,
} from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

// Who may list, restore and erase what. A restore must not grant what the caller could not grant otherwise.

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const users = [
    helper('users', 'manage-users'),
    helper('clients', 'manage-clients'),
    helper('all', 'manage-realm', 'manage-users', 'manage-clients', 'view-realm'),
    helper('viewer', 'view-realm', 'view-users', 'view-clients'),
    helper('chief', 'realm-admin'),
    helper('victim'),
    { ...helper('deputy'), groups: ['/chiefs'] },
  ];
  const { status, json } = await admin('POST', '', {
    realm: 'x',
    enabled: true,
    adminEventsEnabled: true,
    users,
    groups: [{ name: 'chiefs', clientRoles: { 'realm-management': ['manage-users'] } }, { name: 'plain' }],
    clients: [
      { clientId: 'robot', secret: 'robot-secret', serviceAccountsEnabled: true },
      { clientId: 'shop', secret: 'shop-secret' },
    ],
    roles: { client: { shop: [{ name: 'power' }] } },
  });
  assert.equal(status, 201, JSON.stringify(json));
});
after(() => service.stop());

async function as(username: string): Promise<AdminApi> {
  const { body } = await loginAs(service, 'x', { username, password: 'pw' });
  return adminApi(service, body['access_token']!);
}

async function idOf(kind: 'users' | 'clients' | 'groups', name: string): Promise<string> {
  const queries = { users: `username=${name}`, clients: `clientId=${name}`, groups: `search=${name}` };
  return (await admin('GET', `/x/${kind}?${queries[kind]}`)).json[0].id;
}

async function entryOf(name: string): Promise<string> {
  const entries = (await admin('GET', '/x/trash')).json as { id: string; name: string }[];
  const entry = entries.find((one) => one.name === name);
  assert.ok(entry, name);
  return entry.id;
}

const restore = (caller: AdminApi, id: string): Promise<AdminAnswer> =>
  caller('POST', `/x/trash/${id}/restore`);

/** Grants realm-admin to a user. */
async function promote(userId: string): Promise<void> {
  const management = await idOf('clients', 'realm-management');
  const role = (await admin('GET', `/x/clients/${management}/roles/realm-admin`)).json;
  const path = `/x/users/${userId}/role-mappings/clients/${management}`;
  assert.equal((await admin('POST', path, [role])).status, 204);
}

test('a caller who manages users cannot restore or erase an administrator, whatever the roles come from', async () => {
  const users = await as('users');
  for (const name of ['chief', 'deputy']) {
    await admin('DELETE', `/x/users/${await idOf('users', name)}`);
    const entry = await entryOf(name);
    assert.equal((await restore(users, entry)).status, 403, name);
    assert.equal((await users('DELETE', `/x/trash/${entry}`)).status, 403, name);
    assert.equal((await restore(admin, entry)).status, 200, name);
  }
});

test('a role that became administrative after the deletion needs the right to grant it', async () => {
  const users = await as('users');
  await admin('POST', '/x/roles', { name: 'harmless' });
  const role = (await admin('GET', '/x/roles/harmless')).json;
  const victim = await idOf('users', 'victim');
  await admin('POST', `/x/users/${victim}/role-mappings/realm`, [role]);
  await admin('DELETE', `/x/users/${victim}`);
  const management = await idOf('clients', 'realm-management');
  const realmAdmin = (await admin('GET', `/x/clients/${management}/roles/realm-admin`)).json;
  assert.equal((await admin('POST', '/x/roles/harmless/composites', [realmAdmin])).status, 204);
  assert.equal((await restore(users, await entryOf('victim'))).status, 403);
  assert.equal((await restore(admin, await entryOf('victim'))).status, 200);
  await admin('DELETE', '/x/roles/harmless');
});

test('a group with administrative roles, and a group below one, need the right to grant them', async () => {
  const users = await as('users');
  const chiefs = await idOf('groups', 'chiefs');
  await admin('POST', `/x/groups/${chiefs}/children`, { name: 'below' });
  const children = (await admin('GET', `/x/groups/${chiefs}/children`)).json;
  await admin('DELETE', `/x/groups/${children[0].id}`);
  assert.equal((await restore(users, await entryOf('below'))).status, 403);
  assert.equal((await restore(admin, await entryOf('below'))).status, 200);
  await admin('DELETE', `/x/groups/${chiefs}`);
  assert.equal((await restore(users, await entryOf('chiefs'))).status, 403);
  assert.equal((await restore(admin, await entryOf('chiefs'))).status, 200);
  await admin('DELETE', `/x/groups/${await idOf('groups', 'plain')}`);
  assert.equal((await restore(users, await entryOf('plain'))).status, 200);
});

test('a client whose service account or roles are administrative needs the right to grant these roles', async () => {
  const clients = await as('clients');
  const robot = await idOf('clients', 'robot');
  const account = (await admin('GET', `/x/clients/${robot}/service-account-user`)).json;
  await promote(account.id);
  await admin('DELETE', `/x/clients/${robot}`);
  assert.equal((await restore(clients, await entryOf('robot'))).status, 403);
  assert.equal((await restore(admin, await entryOf('robot'))).status, 200);
  const shop = await idOf('clients', 'shop');
  const management = await idOf('clients', 'realm-management');
  const role = (await admin('GET', `/x/clients/${management}/roles/realm-admin`)).json;
  await admin('POST', `/x/clients/${shop}/roles/power/composites`, [role]);
  await admin('DELETE', `/x/clients/${shop}`);
  assert.equal((await restore(clients, await entryOf('shop'))).status, 403);
  assert.equal((await restore(admin, await entryOf('shop'))).status, 200);
});

test('each kind needs the right to create it, and other callers see no entries and no ids', async () => {
  await admin('DELETE', `/x/users/${await idOf('users', 'victim')}`);
  await admin('DELETE', `/x/groups/${await idOf('groups', 'plain')}`);
  const clients = await as('clients');
  const users = await as('users');
  const viewer = await as('viewer');
  const entry = await entryOf('victim');
  assert.deepEqual((await clients('GET', '/x/trash')).json, []);
  assert.equal((await restore(clients, entry)).status, 403);
  assert.equal((await users('GET', '/x/trash')).json.length, 2);
  assert.equal((await users('GET', '/x/trash?kind=group')).json.length, 1);
  assert.deepEqual((await users('GET', '/x/trash?search=vic')).json[0].name, 'victim');
  for (const [method, path] of [
    ['GET', '/x/trash'],
    ['POST', `/x/trash/${entry}/restore`],
    ['POST', '/x/trash/none/restore'],
    ['DELETE', `/x/trash/${entry}`],
  ] as const)
    assert.equal((await viewer(method, path)).status, 403, `${method} ${path}`);
  // An entry of one realm is unknown in every other, and an administrator of a realm has no bin of realms.
  assert.equal((await admin('POST', `/master/trash/${entry}/restore`)).status, 404);
  const all = await as('all');
  for (const [method, path] of [
    ['GET', '/../trash'],
    ['POST', `/../trash/${entry}/restore`],
    ['DELETE', `/../trash/${entry}`],
  ] as const)
    assert.equal((await all(method, path)).status, 403, `${method} ${path}`);
  assert.equal((await admin('POST', `/../trash/${entry}/restore`)).status, 404);
});

test('a creator of realms restores a realm without getting rights in it, and cannot erase it', async () => {
  assert.equal((await admin('POST', '/master/users', { username: 'maker', enabled: true })).status, 201);
  const maker = (await admin('GET', '/master/users?username=maker')).json[0].id;
  await admin('PUT', `/master/users/${maker}/reset-password`, { type: 'password', value: 'pw' });
  const role = (await admin('GET', '/master/roles/create-realm')).json;
  await admin('POST', `/master/users/${maker}/role-mappings/realm`, [role]);
  await admin('PUT', `/master/users/${maker}`, { email: 'm@example.test', firstName: 'M', lastName: 'M' });
  assert.equal((await admin('POST', '', { realm: 'y', enabled: true })).status, 201);
  assert.equal((await admin('DELETE', '/y')).status, 204);
  const { body } = await loginAs(service, 'master', { username: 'maker', password: 'pw' });
  const caller = adminApi(service, body['access_token']!);
  const [entry] = (await caller('GET', '/../trash')).json;
  assert.equal(entry.name, 'y');
  assert.equal((await caller('DELETE', `/../trash/${entry.id}`)).status, 403);
  assert.equal((await caller('POST', `/../trash/${entry.id}/restore`)).status, 200);
  assert.equal((await caller('GET', '/y')).status, 403);
  assert.equal((await admin('GET', '/y/users')).status, 200);
});

test('a partial import cannot take over an administrative service account by disabling it first', async () => {
  const all = await as('all');
  const imported = await all('POST', '/x/partialImport', {
    ifResourceExists: 'OVERWRITE',
    clients: [{ clientId: 'robot', secret: 'stolen', serviceAccountsEnabled: false }],
  });
  assert.equal(imported.status, 403, JSON.stringify(imported.json));
  const robot = await idOf('clients', 'robot');
  assert.equal((await admin('GET', `/x/clients/${robot}/client-secret`)).json.value, 'robot-secret');
});

test('a built-in client cannot be deleted, so no entry restores a management client', async () => {
  const chief = await as('chief');
  for (const name of ['realm-management', 'account'])
    assert.notEqual((await chief('DELETE', `/x/clients/${await idOf('clients', name)}`)).status, 204, name);
});
