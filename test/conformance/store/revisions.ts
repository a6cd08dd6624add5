import assert from 'node:assert/strict';
import type { Change, Store } from '../../../src/store/index.ts';
import { aClient, aComponent, aCredential, aGroup, aRole, aUser } from './records.ts';
import { begin, type Rule } from './suite.ts';

/**
 * Reads one record of every kind that `put` replaces. For each of them, returns a function that builds a change with
 * the revision that was read.
 */
async function readEach(store: Store): Promise<Record<string, (name: string) => Change>> {
  const acme = (await store.findRealm('acme'))!;
  const client = (await store.findClient('realm-1', 'app'))!;
  const user = (await store.findUser('realm-1', 'user-1'))!;
  const credential = (await store.listCredentials('user-1'))[0]!;
  const { realm } = acme;
  const config = (name: string) => ({ priority: [name] });
  return {
    realm: (displayName) => ({
      do: 'put',
      realm: { ...realm, settings: { ...realm.settings, displayName } },
    }),
    client: (name) => ({ do: 'put', client: { ...client, name } }),
    clientScope: (description) => ({
      do: 'put',
      clientScope: { ...acme.clientScopes.get('scope-1')!, description },
    }),
    role: (description) => ({ do: 'put', role: { ...acme.roles.get('role-1')!, description } }),
    group: (description) => ({ do: 'put', group: { ...acme.groups.get('group-1')!, description } }),
    component: (name) => ({ do: 'put', component: { ...acme.components[0]!, config: config(name) } }),
    user: (firstName) => ({ do: 'put', user: { ...user, firstName } }),
    credential: (userLabel) => ({ do: 'put', credential: { ...credential, userLabel } }),
  };
}

const IDS: Record<string, string> = {
  realm: 'realm-1',
  client: 'client-1',
  clientScope: 'scope-1',
  role: 'role-1',
  group: 'group-1',
  component: 'component-1',
  user: 'user-1',
  credential: 'credential-1',
};

export function revisionRules(rule: Rule): void {
  rule(
    '"If several callers read the same record and put it, the first change is applied and the later ones are stale"',
    async (store, _, other) => {
      await begin(store);
      await store.apply([{ do: 'create', credential: aCredential({}) }]);
      for (const [what, change] of Object.entries(await readEach(store))) {
        const outcomes = await Promise.all(
          [store, other, store].map((one, index) => one.apply([change(`change ${index}`)])),
        );
        const applied = outcomes.filter(({ outcome }) => outcome === 'applied');
        assert.equal(applied.length, 1, what);
        const stale = { outcome: 'stale', what, id: IDS[what] };
        assert.deepEqual(
          outcomes.filter(({ outcome }) => outcome !== 'applied'),
          [stale, stale],
        );
      }
      for (const [what, change] of Object.entries(await readEach(store)))
        assert.deepEqual(await store.apply([change('again')]), { outcome: 'applied' }, what);
    },
  );

  rule(
    'a change of a user is stale if a role or group was assigned after the user was read',
    async (store) => {
      await begin(store);
      const read = async () => (await store.findUser('realm-1', 'user-1'))!;
      const between: Change[] = [
        { do: 'unassign', userId: 'user-1', roleIds: ['role-1'] },
        { do: 'assign', userId: 'user-1', roleIds: ['role-1'] },
        { do: 'leave', userId: 'user-1', groupId: 'group-1' },
        { do: 'join', userId: 'user-1', groupId: 'group-1' },
      ];
      for (const change of between) {
        const user = await read();
        await store.apply([change]);
        const same = JSON.stringify(user) === JSON.stringify(await read());
        const answer = await store.apply([{ do: 'put', user: { ...user, firstName: 'x' } }]);
        assert.equal(answer.outcome, same ? 'applied' : 'stale', JSON.stringify(change));
      }
    },
  );

  rule('a change of a record does not restore a role that was removed in the meantime', async (store) => {
    await begin(store);
    await store.apply([
      { do: 'create', role: aRole({ id: 'outer', name: 'outer', compositeIds: ['role-1'] }) },
      { do: 'create', group: aGroup({ id: 'holders', name: 'holders', roleIds: ['role-1'] }) },
    ]);
    const acme = (await store.findRealm('acme'))!;
    await store.apply([{ do: 'remove', what: 'role', id: 'role-1' }]);
    const role = { ...acme.roles.get('outer')!, description: 'x' };
    const group = { ...acme.groups.get('holders')!, description: 'x' };
    assert.equal((await store.apply([{ do: 'put', role }])).outcome, 'stale');
    assert.equal((await store.apply([{ do: 'put', group }])).outcome, 'stale');
    assert.deepEqual((await store.findRealm('acme'))!.roles.get('outer')!.compositeIds, []);
  });

  rule('a change of a record that was read before its removal does not restore the record', async (store) => {
    await begin(store);
    const user = (await store.findUser('realm-1', 'user-1'))!;
    await store.apply([{ do: 'remove', what: 'user', id: 'user-1' }]);
    const put: Change = { do: 'put', user: { ...user, firstName: 'x' } };
    assert.deepEqual(await store.apply([put]), { outcome: 'missing', what: 'user', id: 'user-1' });
    await store.apply([{ do: 'create', user: aUser({ firstName: 'another' }) }]);
    assert.deepEqual(await store.apply([put]), { outcome: 'stale', what: 'user', id: 'user-1' });
  });

  rule('rejects the whole list of changes if one replaces a record that was never read', async (store) => {
    await begin(store);
    const answer = await store.apply([
      { do: 'remove', what: 'component', id: aComponent({}).id },
      { do: 'put', client: aClient({ name: 'made by hand' }) },
    ]);
    assert.deepEqual(answer, { outcome: 'stale', what: 'client', id: 'client-1' });
    assert.equal((await store.findRealm('acme'))!.components.length, 1);
  });
}
