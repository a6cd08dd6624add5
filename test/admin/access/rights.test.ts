import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AdminRefusal,
  bootstrapMaster,
  type Caller,
  changeMappings,
  changeMembership,
  createUser,
  deleteClient,
  findRights,
  getUser,
  importPartially,
  importRealm,
  type RealmCall,
  RIGHTS,
  type Right,
  resetPassword,
  updateRealm,
} from '../../../src/admin/index.ts';
import { BOOTSTRAP, openPlace, type Place } from '../place.ts';

const USER = { username: 'helper', enabled: true };

/**
 * Imports a realm `x` with a user `helper` who has the given administrative roles. Returns the context of an
 * administrative call by that user.
 */
async function helperIn(place: Place, roles: readonly string[]): Promise<RealmCall> {
  const { context } = place;
  const { realmId } = await importRealm(
    context,
    { realm: 'x', enabled: true, users: [{ ...USER, clientRoles: { 'realm-management': roles } }] },
    { source: 'x' },
  );
  return await callAs(place, realmId, 'x', 'helper', 'x');
}

async function callAs(
  { context }: Place,
  realmId: string,
  realmName: string,
  username: string,
  target: string,
): Promise<RealmCall> {
  const user = (await context.store.findUserByUsername(realmId, username))!;
  const client = (await context.store.findClient(realmId, 'admin-cli'))!;
  const caller: Caller = {
    realmId,
    realmName,
    userId: user.id,
    clientId: client.clientId,
    clientUuid: client.id,
    scopes: new Set<string>(),
    ipAddress: '127.0.0.1',
  };
  const configuration = (await context.store.findRealm(target))!;
  return { context, caller, configuration, rights: await findRights(context, caller, configuration) };
}

function refused(kind: AdminRefusal['kind']) {
  return (error: unknown) => error instanceof AdminRefusal && error.kind === kind;
}

const every = Object.keys(RIGHTS) as Right[];
const table: readonly [readonly string[], readonly Right[]][] = [
  [[], []],
  [['view-users'], ['viewUsers', 'queryUsers', 'queryGroups', 'listRoles']],
  [['manage-users'], ['viewUsers', 'manageUsers', 'queryUsers', 'queryGroups']],
  [['query-users'], ['queryUsers', 'listRoles']],
  [['view-clients'], ['viewClients', 'queryClients', 'listRoles']],
  [['create-client'], ['createClients']],
  [['view-realm'], ['viewRealm', 'listRoles']],
  [['manage-realm'], ['viewRealm', 'manageRealm', 'listRoles']],
  [['view-events'], ['viewEvents']],
  [['realm-admin'], every],
];
for (const [roles, rights] of table)
  test(`the administrative roles [${roles}] grant exactly the rights in docs/keycloak/admin-api.md#roles`, async () => {
    await using place = await openPlace();
    const call = await helperIn(place, roles);
    assert.deepEqual(every.filter((right) => call.rights.has(right)).sort(), [...rights].sort());
    assert.equal(call.rights.any, roles.length > 0);
  });

test('administrators of master have all rights in every realm, and administrators of one realm have none in other realms', async () => {
  await using place = await openPlace();
  await bootstrapMaster(place.context, BOOTSTRAP);
  await helperIn(place, ['realm-admin']);
  await importRealm(place.context, { realm: 'y', enabled: true }, { source: 'y' });
  const master = (await place.context.store.findRealm('master'))!.realm.id;
  const x = (await place.context.store.findRealm('x'))!.realm.id;
  for (const target of ['master', 'x', 'y']) {
    const { rights } = await callAs(place, master, 'master', 'admin', target);
    assert.ok(
      every.every((right) => rights.has(right)),
      target,
    );
  }
  for (const target of ['master', 'y'])
    assert.equal((await callAs(place, x, 'x', 'helper', target)).rights.any, false, target);
});

test('resolves roles on each call, so a revoked role grants no rights on the next call', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['view-users']);
  const { store } = place.context;
  const user = await getUser(call, call.caller.userId);
  await store.apply([{ do: 'unassign', userId: user.id, roleIds: user.roleIds }]);
  assert.equal((await findRights(place.context, call.caller, call.configuration)).any, false);
});

test('manage-users does not permit a caller to grant administrative roles, either directly or in a composite role', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['manage-users', 'manage-realm']);
  const { configuration, context } = call;
  const admin = configuration.roles.values().find((role) => role.name === 'realm-admin')!;
  const user = await getUser(call, call.caller.userId);
  const owner = { clientUuid: admin.clientUuid! };
  await assert.rejects(
    changeMappings(call, { user }, owner, [{ id: admin.id, name: admin.name }], 'add'),
    refused('forbidden'),
  );
  const wrapped = {
    id: 'wrap',
    realmId: configuration.realm.id,
    name: 'wrap',
    attributes: {},
    compositeIds: [admin.id],
  };
  await context.store.apply([{ do: 'create', role: wrapped }]);
  const after = { ...call, configuration: (await context.store.findRealm('x'))! };
  await assert.rejects(
    changeMappings(after, { user }, 'realm', [{ id: 'wrap' }], 'add'),
    refused('forbidden'),
  );
  const group = {
    id: 'admins',
    realmId: configuration.realm.id,
    name: 'admins',
    attributes: {},
    roleIds: [admin.id],
    isDefault: false,
  };
  await context.store.apply([{ do: 'create', group }]);
  const within = { ...call, configuration: (await context.store.findRealm('x'))! };
  await assert.rejects(changeMembership(within, user.id, 'admins', 'join'), refused('forbidden'));
  await assert.rejects(createUser(within, { username: 'sly', groups: ['/admins'] }), refused('forbidden'));
  await assert.rejects(
    importPartially(after, { users: [{ username: 'sly', realmRoles: ['wrap'] }] }, 'FAIL'),
    refused('forbidden'),
  );
});

test('ends all sessions of a user when an administrator sets the password', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['realm-admin']);
  const { store } = place.context;
  const id = await createUser(call, { username: 'bob', enabled: true });
  const { realm } = call.configuration;
  for (const offline of [false, true])
    await store.startSession(
      {
        id: 'session',
        offline,
        realmId: realm.id,
        userId: id,
        startedAt: 1,
        lastAccessAt: 1,
        ipAddress: '127.0.0.1',
        rememberMe: false,
        notes: {},
      },
      {
        id: `family-${offline}`,
        sessionId: 'session',
        offline,
        realmId: realm.id,
        clientUuid: call.caller.clientUuid,
        userId: id,
        currentHash: Buffer.alloc(32, offline ? 1 : 2),
        parentUses: 0,
        scope: 'openid',
        startedAt: 1,
        lastRefreshAt: 1,
        notes: {},
      },
    );
  await resetPassword(call, id, { type: 'password', value: 'New-password-1' });
  assert.equal(await store.findSession('session', false), undefined);
  assert.equal(await store.findSession('session', true), undefined);
});

test('refuses a new password that violates the policy, and stores nothing', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['realm-admin']);
  await updateRealm(call, { passwordPolicy: 'length(8)' });
  const after = { ...call, configuration: (await place.context.store.findRealm('x'))! };
  await assert.rejects(
    createUser(after, { username: 'bob', credentials: [{ type: 'password', value: 'short' }] }),
    (error: AdminRefusal) => error.body?.['error'] === 'invalidPasswordMinLengthMessage',
  );
  assert.equal(await place.context.store.countUsers({ realmId: call.configuration.realm.id }), 1);
});

test('generates a key for a new default signature algorithm before the call returns', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['realm-admin']);
  await updateRealm(call, { defaultSignatureAlgorithm: 'EdDSA' });
  const after = (await place.context.store.findRealm('x'))!;
  assert.ok(after.components.some(({ providerId }) => providerId === 'eddsa-generated'));
});

test('refuses to delete built-in clients', async () => {
  await using place = await openPlace();
  const call = await helperIn(place, ['realm-admin']);
  const realmId = call.configuration.realm.id;
  const { store } = place.context;
  const cli = (await store.findClient(realmId, 'admin-cli'))!;
  await assert.rejects(deleteClient(call, cli.id), refused('bad-request'));
  const management = (await store.findClient(realmId, 'realm-management'))!;
  await assert.rejects(deleteClient(call, management.id), refused('forbidden'));
});
