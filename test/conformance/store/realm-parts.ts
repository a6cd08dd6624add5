import assert from 'node:assert/strict';
import type { ClientScope, Group, Role } from '../../../src/model/index.ts';
import type { Change, Store } from '../../../src/store/index.ts';
import { applyAsRead, unread } from '../../store/as-read.ts';
import { waitUntil } from '../../wait-until.ts';
import { aClient, aClientScope, aComponent, aGroup, aRealm, aRole, aUser } from './records.ts';
import { begin, type Rule } from './suite.ts';

/** Number of roles of a large realm, which a store reads in slices. */
const ROLES = 600;
const ROUNDS = 40;

/** The records that a realm must have. */
interface Expected {
  roles: Map<string, Role>;
  groups: Map<string, Group>;
  scopes: Map<string, ClientScope>;
}

/** Rules about a realm whose parts change while it is cached. */
export function realmPartsRules(rule: Rule): void {
  rule('returns a large realm as it was stored after every change of its parts', async (store) => {
    await begin(store);
    const expected: Expected = {
      roles: new Map([['role-1', aRole({})]]),
      groups: new Map([['group-1', aGroup({})]]),
      scopes: new Map([['scope-1', aClientScope({})]]),
    };
    const roles = Array.from({ length: ROLES }, (_, index) => {
      const before = index === 0 ? [] : [`r${(index * 7) % index}`];
      return aRole({ id: `r${index}`, name: `r${index}`, compositeIds: before });
    });
    for (const role of roles) expected.roles.set(role.id, role);
    assert.deepEqual(await store.apply(roles.map((role) => ({ do: 'create', role }))), {
      outcome: 'applied',
    });
    await compare(store, expected);
    for (let round = 0; round < ROUNDS; round++) {
      const before = (await store.findRealm('acme'))!;
      const changes = randomChanges(expected, round);
      assert.deepEqual(await applyAsRead(store, changes), { outcome: 'applied' });
      const after = await compare(store, expected);
      const kept = after.roles.values().filter((role) => before.roles.get(role.id) === role);
      assert.ok([...kept].length > ROLES / 2, 'records that did not change are the same objects');
      assert.equal(await store.findRealm('acme'), after);
    }
  });

  rule('a lookup that starts after a change returns the change, even during other lookups', async (store) => {
    await begin(store);
    const looks: Promise<unknown>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      looks.push(
        store.findRealm('acme'),
        store.findRealmById('realm-1'),
        store.findUser('realm-1', 'user-1'),
      );
      const applied = applyAsRead(store, [
        { do: 'put', role: aRole({ description: `${round}` }) },
        { do: 'put', user: aUser({ firstName: `${round}` }) },
        { do: 'put', client: aClient({ name: `${round}` }) },
      ]);
      looks.push(
        store.findRealm('acme'),
        store.findClient('realm-1', 'app'),
        store.findServiceAccount('client-1'),
      );
      await applied;
      const found = await Promise.all([
        store.findRealm('acme'),
        store.findRealmById('realm-1'),
        store.findUser('realm-1', 'user-1'),
        store.findClient('realm-1', 'app'),
        store.findClientByUuid('realm-1', 'client-1'),
      ]);
      const [byName, byId, user, client, byUuid] = found;
      const shown = [byName, byId].map((realm) => realm?.roles.get('role-1')?.description);
      assert.deepEqual(
        [...shown, user?.firstName, client?.name, byUuid?.name],
        new Array(5).fill(`${round}`),
      );
    }
    await Promise.all(looks);
  });

  rule(
    'a change of one realm drops no cached record of another realm, in any store',
    async (store, _, other) => {
      await begin(store);
      const second = { realmId: 'realm-2' } as const;
      await store.apply([
        { do: 'create', realm: aRealm({ id: 'realm-2', name: 'second' }) },
        { do: 'create', role: aRole({ ...second, id: 'role-of-2' }) },
        { do: 'create', client: aClient({ ...second, id: 'client-of-2' }) },
        { do: 'create', user: aUser({ ...second, id: 'user-of-2' }) },
      ]);
      const read = async (from: Store) => [
        await from.findRealm('second'),
        await from.findClient('realm-2', 'app'),
        await from.findUser('realm-2', 'user-of-2'),
      ];
      await waitUntil('the other store sees both realms', async () =>
        (await read(other)).every((found) => found !== undefined),
      );
      // Until then, the other store may still learn that these records were created.
      await waitUntil('the other store returns the same objects', async () => {
        const before = await read(other);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return (await read(other)).every((found, index) => found === before[index]);
      });
      const before = [await read(store), await read(other)];
      const clients = Array.from({ length: 300 }, (_, index) =>
        aClient({ id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, clientId: `c${index}` }),
      );
      await applyAsRead(store, [
        ...clients.map((client): Change => ({ do: 'create', client })),
        { do: 'put', realm: aRealm({ name: 'renamed' }) },
        { do: 'put', user: aUser({ firstName: 'New' }) },
        { do: 'remove', what: 'role', id: 'role-1' },
        { do: 'create', realm: aRealm({ id: 'realm-3', name: 'third' }) },
      ]);
      await waitUntil('the other store sees the changes', async () => {
        const realm = await other.findRealm('renamed');
        const user = await other.findUser('realm-1', 'user-1');
        return (
          realm?.roles.size === 0 &&
          user?.firstName === 'New' &&
          (await other.findRealm('acme')) === undefined
        );
      });
      for (const [index, from] of [store, other].entries())
        for (const [place, found] of (await read(from)).entries()) assert.equal(found, before[index]![place]);
    },
  );

  rule('removes a role from every list, whatever the other fields of a record contain', async (store) => {
    await begin(store);
    const odd = { 'compositeIds":[]}': ['"role-1"', '\0', '%_\\'], compositeIds: [] };
    const gone = 'with_%\\"';
    await store.apply([
      { do: 'create', role: aRole({ id: gone, name: 'gone' }) },
      { do: 'create', role: aRole({ id: 'a', name: 'a', attributes: odd, compositeIds: [gone, 'role-1'] }) },
      { do: 'create', role: aRole({ id: 'b', name: 'b', attributes: odd, compositeIds: [] }) },
      { do: 'create', group: aGroup({ id: 'g', name: 'g', attributes: odd, roleIds: ['b', gone] }) },
      { do: 'create', client: aClient({ id: 'c', clientId: 'c', scopeRoleIds: [gone, 'b'] }) },
      { do: 'create', clientScope: aClientScope({ id: 's', name: 's', scopeRoleIds: [gone] }) },
    ]);
    await store.findRealm('acme');
    await store.findClient('realm-1', 'c');
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'role', id: gone }]), { outcome: 'applied' });
    const realm = (await store.findRealm('acme'))!;
    assert.deepEqual(realm.roles.get('a')!.compositeIds, ['role-1']);
    assert.deepEqual(realm.roles.get('a')!.attributes, odd);
    assert.deepEqual(realm.groups.get('g')!.roleIds, ['b']);
    assert.deepEqual(realm.clientScopes.get('s')!.scopeRoleIds, []);
    assert.deepEqual((await store.findClient('realm-1', 'c'))!.scopeRoleIds, ['b']);
    assert.equal(realm.roles.has(gone), false);
  });

  rule(
    'finds the first conflict of a list of new records, as if they were created one by one',
    async (store) => {
      await begin(store);
      const role = (id: string, name: string): Change => ({ do: 'create', role: aRole({ id, name }) });
      const user = (id: string, username: string, email: string, realmId = 'realm-1'): Change => ({
        do: 'create',
        user: aUser({ id, username, email, realmId }),
      });
      const cases: [Change[], Awaited<ReturnType<Store['apply']>>][] = [
        [[role('x', 'one'), role('x', 'two')], { outcome: 'conflict', on: 'role.id', value: 'x' }],
        [[role('x', 'one'), role('y', 'one')], { outcome: 'conflict', on: 'role.name', value: 'one' }],
        [
          [user('u', 'u', 'same@example.org'), user('v', 'v', 'same@example.org')],
          { outcome: 'conflict', on: 'user.email', value: 'same@example.org' },
        ],
        [[user('u', 'u', 'u@example.org', 'none')], { outcome: 'missing', what: 'realm', id: 'none' }],
        [
          [
            { do: 'create', component: aComponent({ id: 'k', realmId: 'new' }) },
            { do: 'create', realm: aRealm({ id: 'new', name: 'new' }) },
          ],
          { outcome: 'missing', what: 'realm', id: 'new' },
        ],
        [
          [
            { do: 'create', realm: aRealm({ id: 'new', name: 'new' }) },
            { do: 'remove', what: 'realm', id: 'new' },
            { do: 'create', component: aComponent({ id: 'k', realmId: 'new' }) },
          ],
          { outcome: 'missing', what: 'realm', id: 'new' },
        ],
      ];
      for (const [changes, outcome] of cases) assert.deepEqual(await store.apply(changes), outcome);
      const { settings } = aRealm({});
      const lenient = aRealm({ settings: { ...settings, duplicateEmailsAllowed: true } });
      const applied = await applyAsRead(store, [
        { do: 'put', realm: lenient },
        user('u', 'u', 'same@example.org'),
        user('v', 'v', 'same@example.org'),
      ]);
      assert.deepEqual(applied, { outcome: 'applied' });
    },
  );
}

/** Asserts that the store returns the expected records. */
async function compare(store: Store, { roles, groups, scopes }: Expected) {
  const realm = (await store.findRealm('acme'))!;
  const plain = <T extends object>(records: ReadonlyMap<string, T>) =>
    new Map([...records].map(([id, record]) => [id, unread(record)]));
  assert.deepEqual(plain(realm.roles), roles);
  assert.deepEqual(plain(realm.groups), groups);
  assert.deepEqual(plain(realm.clientScopes), scopes);
  return realm;
}

/** Returns changes of a few records, and makes them in `expected` too. */
function randomChanges({ roles, groups, scopes }: Expected, round: number): Change[] {
  const at = <T>(records: ReadonlyMap<string, T>, number: number): T =>
    [...records.values()][(number * 37 + round * 11) % records.size]!;
  const changes: Change[] = [];
  const added = aRole({
    id: `${round % 2 ? 'a' : 'z'}-${round}`,
    name: `new-${round}`,
    compositeIds: ['role-1'],
  });
  roles.set(added.id, added);
  changes.push({ do: 'create', role: added });
  const changed = {
    ...at(roles, 1),
    description: `changed ${round}`,
    compositeIds: [at(roles, 2).id, at(roles, 3).id],
  };
  if (changed.id !== added.id) {
    roles.set(changed.id, changed);
    changes.push({ do: 'put', role: changed });
  }
  const group = aGroup({ id: `g-${round}`, name: `g-${round}`, roleIds: [at(roles, 4).id] });
  groups.set(group.id, group);
  changes.push({ do: 'create', group });
  const scope = { ...scopes.get('scope-1')!, scopeRoleIds: [at(roles, 5).id], description: `${round}` };
  scopes.set('scope-1', scope);
  changes.push({ do: 'put', clientScope: scope });
  const { id: gone } = at(roles, 6);
  changes.push({ do: 'remove', what: 'role', id: gone });
  roles.delete(gone);
  const without = (ids: readonly string[]) => ids.filter((id) => id !== gone);
  for (const [id, role] of roles) roles.set(id, { ...role, compositeIds: without(role.compositeIds) });
  for (const [id, one] of groups) groups.set(id, { ...one, roleIds: without(one.roleIds) });
  for (const [id, one] of scopes) scopes.set(id, { ...one, scopeRoleIds: without(one.scopeRoleIds) });
  if (round % 5 === 4) {
    changes.push({ do: 'remove', what: 'group', id: `g-${round - 1}` });
    groups.delete(`g-${round - 1}`);
  }
  return changes;
}
