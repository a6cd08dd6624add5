import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRightsByRealm } from '../../../src/admin/access/rights.ts';
import { type Caller, findRights, listRealms, type Rights } from '../../../src/admin/index.ts';
import { type Client, effectiveRoleIds, expandRoleIds, type Role } from '../../../src/model/index.ts';
import type { Change, RealmConfiguration } from '../../../src/store/index.ts';
import { seedRealms } from '../../bench/seed-realms.ts';
import { BOOTSTRAP, openPlace, type Place } from '../place.ts';

const REALMS = ['realm-0', 'realm-1', 'realm-2', 'realm-3'];
const ADMINISTRATORS = 80;

/** Returns a generator of the same numbers in [0, 1) in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const next = numbers(12);
const pick = <T>(items: readonly T[], most: number): T[] =>
  Array.from({ length: Math.floor(next() * (most + 1)) }, () => items[Math.floor(next() * items.length)]!);

/**
 * Adds random composite roles, nested groups, clients with a limited scope and administrators to a realm. A few of the
 * administrators hold the role `admin`.
 *
 * @returns the callers, one for each administrator and client
 */
async function administrators({ context }: Place, realmName: string): Promise<Caller[]> {
  const { store } = context;
  const realm = (await store.findRealm(realmName))!;
  const realmId = realm.realm.id;
  const held = [...realm.roles.values()];
  const ids = (most: number) => pick(held, most).map(({ id }) => id);
  const id = (kind: string, index: number) => `${realmName}-${kind}-${index}`;
  const composites = Array.from({ length: 6 }, (_, index): Role => {
    const compositeIds = [...ids(6), ...pick([0, 1, 2, 3, 4, 5], 2).map((other) => id('role', other))];
    return { id: id('role', index), realmId, name: `composite-${index}`, attributes: {}, compositeIds };
  });
  const of = (most: number) => [...ids(most), ...pick(composites, 1).map((role) => role.id)];
  const changes: Change[] = composites.map((role) => ({ do: 'create', role }));
  for (let index = 0; index < 6; index++) {
    const parent = index < 2 ? {} : { parentId: id('group', index - 2) };
    const group = {
      id: id('group', index),
      realmId,
      name: `group-${index}`,
      attributes: {},
      isDefault: false,
    };
    changes.push({ do: 'create', group: { ...group, ...parent, roleIds: of(3) } });
  }
  const scopes = [...realm.clientScopes.values()];
  for (const [index, scope] of scopes.slice(0, 4).entries())
    changes.push({ do: 'put', clientScope: { ...scope, scopeRoleIds: index === 0 ? [] : of(8) } });
  const cli = (await store.findClient(realmId, 'admin-cli'))!;
  const clients: Client[] = Array.from({ length: 5 }, (_, index) => ({
    ...cli,
    id: id('client', index),
    clientId: `limited-${index}`,
    fullScopeAllowed: false,
    scopeRoleIds: of(30),
    defaultClientScopeIds: pick(scopes, 2).map((scope) => scope.id),
    optionalClientScopeIds: scopes.slice(0, 4).map((scope) => scope.id),
  }));
  changes.push(...clients.map((client): Change => ({ do: 'create', client })));
  const admin = held.find((role) => role.name === 'admin' && role.clientUuid === undefined);
  const callers: Caller[] = [];
  for (let index = 0; index < ADMINISTRATORS; index++) {
    const user = {
      id: id('user', index),
      realmId,
      username: `user-${index}`,
      emailVerified: false,
      enabled: index !== 7,
      createdTimestamp: 0,
      attributes: {},
      requiredActions: [],
      notBefore: 0,
      roleIds: [...new Set([...of(4), ...(index % 20 === 0 && admin ? [admin.id] : [])])],
      groupIds: [...new Set(pick([0, 1, 2, 3, 4, 5], 2).map((group) => id('group', group)))],
      kept: {},
    };
    changes.push({ do: 'create', user });
    const client = pick([cli, ...clients], 1)[0] ?? cli;
    callers.push({
      realmId,
      realmName,
      userId: user.id,
      clientId: client.clientId,
      clientUuid: client.id,
      scopes: new Set(pick(scopes.slice(0, 4), 2).map(({ name }) => name)),
      ipAddress: '127.0.0.1',
    });
  }
  assert.deepEqual(await store.apply(changes), { outcome: 'applied' });
  return callers;
}

/** Computes the rights in one realm from all of the roles of the caller, as docs/keycloak/admin-api.md#roles states. */
async function expected({ context }: Place, caller: Caller, target: RealmConfiguration) {
  const { store } = context;
  const realm = (await store.findRealmById(caller.realmId))!;
  const user = (await store.findUser(caller.realmId, caller.userId))!;
  const client = (await store.findClientByUuid(caller.realmId, caller.clientUuid))!;
  const ofMaster = caller.realmName === 'master';
  if (!user.enabled || (!ofMaster && target.realm.id !== caller.realmId)) return { names: [], grants: false };
  const allowed = new Set(client.scopeRoleIds);
  for (const id of client.defaultClientScopeIds)
    for (const role of realm.clientScopes.get(id)!.scopeRoleIds) allowed.add(role);
  for (const id of client.optionalClientScopeIds)
    if (caller.scopes.has(realm.clientScopes.get(id)!.name))
      for (const role of realm.clientScopes.get(id)!.scopeRoleIds) allowed.add(role);
  const carried = expandRoleIds(realm, allowed);
  const roles = [...effectiveRoleIds(realm, user)]
    .map((id) => realm.roles.get(id)!)
    .filter((role) => client.fullScopeAllowed || carried.has(role.id) || role.clientUuid === client.id);
  const owner = await store.findClient(
    caller.realmId,
    ofMaster ? `${target.realm.name}-realm` : 'realm-management',
  );
  const names = roles.filter((role) => role.clientUuid === owner!.id).map(({ name }) => name);
  const grants = ofMaster
    ? roles.some((role) => role.name === 'admin' && role.clientUuid === undefined)
    : names.includes('realm-admin');
  return { names: names.sort(), grants: grants };
}

function shownRights(rights: Rights | undefined) {
  return { names: [...(rights?.roles ?? [])].sort(), grants: rights?.grantsAdminRoles === true };
}

test('finds the same rights for random administrators realm by realm and for all realms at once', async () => {
  await using place = await openPlace();
  const { context } = place;
  await seedRealms(context, REALMS.length, {
    users: 1,
    first: { password: BOOTSTRAP.password.reveal(), smokeClientSecret: 'smoke-secret' },
  });
  const callers = [...(await administrators(place, 'master')), ...(await administrators(place, 'realm-2'))];
  let found = 0;
  for (const caller of callers) {
    const byRealm = await findRightsByRealm(context, caller);
    const names: string[] = [];
    for (const name of ['master', ...REALMS]) {
      const target = (await context.store.findRealm(name))!;
      const right = await expected(place, caller, target);
      const label = `${caller.userId} in ${name}`;
      assert.deepEqual(shownRights(await findRights(context, caller, target)), right, label);
      if (right.names.length > 0) {
        assert.deepEqual(shownRights(byRealm.get(name)), right, label);
        names.push(name);
      } else assert.equal(byRealm.has(name), false, label);
    }
    found += names.length;
    if (names.length === 0) {
      await assert.rejects(listRealms(context, caller, false));
      continue;
    }
    const listed: Record<string, unknown>[] = [];
    for await (const page of (await listRealms(context, caller, false)).pages) listed.push(...page);
    assert.deepEqual(
      listed.map(({ realm }) => realm),
      names,
    );
    for (const one of listed) {
      const roles = byRealm.get(String(one['realm']))!.roles;
      assert.equal('id' in one, roles.has('view-realm') || roles.has('manage-realm'));
    }
  }
  assert.ok(found > ADMINISTRATORS, `${found} pairs of an administrator and a realm`);
});
