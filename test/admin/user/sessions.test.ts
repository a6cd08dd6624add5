import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AdminContext,
  bootstrapMaster,
  deleteRealm,
  deleteSession,
  findManagementClient,
  importRealm,
  logoutUser,
  sessionStats,
} from '../../../src/admin/index.ts';
import { Secret } from '../../../src/core/index.ts';
import type { Applied, Change, Store } from '../../../src/store/index.ts';
import { aFamily, aSession } from '../../conformance/store/records.ts';
import { callIn, openPlace } from '../place.ts';

/** Imports a realm with a user, and returns how the user gets sessions, and the ids of the sessions of notified clients. */
async function realmWithUser(context: AdminContext) {
  const { store } = context;
  const file = { realm: 'x', enabled: true, clients: [{ clientId: 'web' }], users: [{ username: 'alice' }] };
  const { realmId } = await importRealm(context, file, { source: 'x' });
  const { id: userId } = (await store.findUserByUsername(realmId, 'alice'))!;
  const clientUuid = (await store.findClient(realmId, 'web'))!.id;
  const notified: string[] = [];
  context.sessionEndings = {
    prepare: async (_, ending) => {
      const sessions =
        'sessions' in ending ? ending.sessions : await store.listUserSessions(ending.userId, false);
      return async () => {
        notified.push(...sessions.map(({ session }) => session.id));
      };
    },
  };
  const call = async (through: Store = store) => ({
    ...(await callIn(context, 'x')),
    context: { ...context, store: through },
  });
  const start = (id: string) =>
    store.startSession(
      aSession({ id, realmId, userId }),
      aFamily({ id, sessionId: id, realmId, userId, clientUuid }),
    );
  return { userId, notified, call, start };
}

/** Returns the store with another `apply`. */
function withApply(store: Store, apply: (changes: readonly Change[]) => Promise<Applied>): Store {
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = name === 'apply' ? apply : Reflect.get(target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

test('notifies the clients of ended sessions even if the change that ended them is rejected or fails', async () => {
  await using place = await openPlace();
  const { store } = place.context;
  const { userId, notified, call, start } = await realmWithUser(place.context);
  const ended = { endedSessionsOf: [userId] };
  const stale = { outcome: 'stale', what: 'user', id: userId } as const;
  const ending = async () => {
    await store.endUserSessions(userId, { offlineToo: false });
  };
  const refused = async (apply: () => Promise<Applied>, error: object) => {
    notified.length = 0;
    await start('one');
    await assert.rejects(logoutUser(await call(withApply(store, apply)), userId), error);
    await ending();
    return notified.splice(0);
  };
  assert.deepEqual(await refused(async () => stale, { name: 'StaleRecord' }), []);
  const rejections: [Applied, object][] = [
    [{ ...stale, ...ended }, { name: 'StaleRecord' }],
    [{ outcome: 'missing', what: 'user', id: userId, ...ended }, { kind: 'not-found' }],
    [{ outcome: 'conflict', on: 'user.id', value: userId, ...ended }, { kind: 'conflict' }],
  ];
  for (const [rejection, error] of rejections)
    assert.deepEqual(await refused(() => ending().then(() => rejection), error), ['one']);
  const failure = Object.assign(new Error('the database fails'), ended);
  const fail = () =>
    ending().then(() => {
      throw failure;
    });
  assert.deepEqual(await refused(fail, failure), ['one']);
  await start('one');
  await logoutUser(await call(), userId);
  assert.deepEqual(notified, ['one']);
});

test('parallel calls that end one session notify its clients once, and only one of them succeeds', async () => {
  await using place = await openPlace();
  const { notified, call, start } = await realmWithUser(place.context);
  await start('one');
  const calls = await Promise.allSettled(
    Array.from({ length: 8 }, async () => deleteSession(await call(), 'one', false)),
  );
  assert.equal(calls.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const one of calls)
    if (one.status === 'rejected') assert.equal(one.reason.message, 'Sesssion not found');
  assert.deepEqual(notified, ['one']);
});

test('reads the clients of the session statistics with one call', async () => {
  await using place = await openPlace();
  const { context } = place;
  const { call, start } = await realmWithUser(context);
  await start('one');
  const calls: string[] = [];
  const through = new Proxy(context.store, {
    get(target, name) {
      calls.push(String(name));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const stats = await sessionStats(await call(through));
  assert.deepEqual(
    stats.map(({ clientId, active, offline }) => ({ clientId, active, offline })),
    [{ clientId: 'web', active: '1', offline: '0' }],
  );
  assert.deepEqual(calls, ['countClientSessions', 'findClients']);
});

test('removes a realm although another call has removed its client of master', async () => {
  await using place = await openPlace();
  const { context } = place;
  const { store } = context;
  await bootstrapMaster(context, {
    username: 'admin',
    password: new Secret('Master-Password-1'),
    smokeClientSecret: new Secret('smoke-secret'),
  });
  const { call } = await realmWithUser(context);
  const apply = async (changes: readonly Change[]) => {
    const client = changes.find((change) => change.do === 'remove' && change.what === 'client');
    if (client !== undefined) await store.apply([client]);
    return store.apply(changes);
  };
  const master = await store.findRealm('master');
  assert.ok(master && (await findManagementClient(context, master, 'x')));
  await deleteRealm(await call(withApply(store, apply)));
  assert.equal(await store.findRealm('x'), undefined);
});
