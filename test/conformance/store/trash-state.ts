import assert from 'node:assert/strict';
import type { Change, Store } from '../../../src/store/index.ts';
import { MANY } from './many.ts';
import { aComponent, aConsent, aCredential, aFamily, aSession, aUser } from './records.ts';

/** Applies changes, which must succeed. */
export async function deleted(store: Store, ...changes: readonly Change[]): Promise<void> {
  assert.deepEqual(await store.apply(changes), { outcome: 'applied' });
}

/** Returns a record as JSON without `notBefore`, which a restore changes. */
export const settled = (record: unknown): unknown =>
  JSON.parse(JSON.stringify(record, (key, value) => (key === 'notBefore' ? undefined : value)));

export const byId = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

/** Gives the first user a credential, a role and a consent. */
export async function addLinks(store: Store): Promise<void> {
  const user = await store.findUser('realm-1', 'user-1');
  await deleted(
    store,
    { do: 'create', credential: aCredential({}) },
    { do: 'create', component: aComponent({ id: 'another', name: 'another' }) },
    { do: 'assign', userId: 'user-1', roleIds: ['role-1'] },
    { do: 'join', userId: 'user-1', groupId: 'group-1' },
    { do: 'putConsent', consent: aConsent({ userId: user!.id }) },
  );
  await store.startSession(aSession({ id: 'second' }), aFamily({ id: 'second', sessionId: 'second' }));
}

export async function userState(store: Store) {
  const found = await store.findUser('realm-1', 'user-1');
  const user = found && {
    ...found,
    roleIds: [...found.roleIds].sort(),
    groupIds: [...found.groupIds].sort(),
  };
  const credentials = (await store.listCredentials('user-1')).map(({ secrets, ...one }) => ({
    ...one,
    secrets: Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]),
  }));
  return {
    user,
    rest: {
      credentials,
      consents: await store.listConsents('user-1'),
      members: (await store.listGroupMembers('group-1', 0, 10)).map(({ id }) => id),
      users: await store.countUsers({ realmId: 'realm-1' }),
    },
  };
}

export async function clientState(store: Store) {
  const realm = await store.findRealmById('realm-1');
  const found = await store.findClientByUuid('realm-1', 'client-1');
  const { secrets = {}, ...client } = found ?? {};
  const robot = await store.findServiceAccount('client-1');
  return {
    client,
    secrets: Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]),
    role: realm?.roles.get('of-client'),
    robot: robot && [robot.id, robot.roleIds],
    users: (await store.listUsersWithRole('of-client', 0, 10)).map(({ id }) => id),
    consents: await store.listConsents('user-1'),
    references: [
      realm?.roles.get('boss')?.compositeIds,
      realm?.groups.get('editors')?.roleIds,
      (await store.findClientByUuid('realm-1', 'client-2'))?.scopeRoleIds,
    ],
  };
}

/** Adds many users with a consent and, if the records exist, the role of the client and a membership. */
export async function addMany(store: Store): Promise<void> {
  const realm = await store.findRealmById('realm-1');
  const roleIds = realm?.roles.has('of-client') ? ['of-client'] : [];
  const groupIds = realm?.groups.has('below') ? ['below'] : [];
  const users = Array.from({ length: MANY }, (_, i) =>
    aUser({ id: `u${i}`, username: `u${i}`, email: `u${i}@example.test`, roleIds, groupIds }),
  );
  await deleted(store, ...users.map((user): Change => ({ do: 'create', user })));
  await deleted(
    store,
    ...users.map(({ id }): Change => ({ do: 'putConsent', consent: aConsent({ userId: id }) })),
  );
}

/** Makes a transaction of a restore fail, counted from 1. */
export function failAtSlice(store: Store, failing: number): void {
  const inner = store as unknown as { applyRows: (...values: unknown[]) => Promise<unknown> };
  const original = inner.applyRows;
  let slice = 0;
  inner.applyRows = async (...values) => {
    slice += 1;
    if (slice < failing) return await original.apply(store, values);
    inner.applyRows = original;
    throw new Error('the database fails');
  };
}

/** Returns the numbers of links to the role of the client, of members and of users. */
export async function linkCounts(store: Store): Promise<readonly number[]> {
  return [
    (await store.listUsersWithRole('of-client', 0, 5_000)).length,
    (await store.listGroupMembers('below', 0, 5_000)).length,
    await store.countUsers({ realmId: 'realm-1' }),
  ];
}
