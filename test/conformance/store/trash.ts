import assert from 'node:assert/strict';
import type { AdminEvent } from '../../../src/model/index.ts';
import type { Change, Store, TrashEntry } from '../../../src/store/index.ts';
import { applyAsRead } from '../../store/as-read.ts';
import { waitUntil } from '../../wait-until.ts';
import { afterSlices, MANY } from './many.ts';
import { aClient, aGroup, aRealm, aRole, aUser, START } from './records.ts';
import { begin, many, type Rule } from './suite.ts';
import {
  addLinks,
  addMany,
  byId,
  clientState,
  deleted,
  failAtSlice,
  linkCounts,
  settled,
  userState,
} from './trash-state.ts';

const DAY = 86_400;
const BY = { realmId: 'realm-1', userId: 'administrator' };

/** Returns a removal that moves the record to the bin. */
function remove(
  what: 'realm' | 'user' | 'client' | 'group',
  id: string,
  entry = 'entry',
  ownerId?: string,
): Change {
  const keep = { id: entry, at: START * 1000, by: BY, expiresAt: START + DAY };
  return { do: 'remove', what, id, keep: ownerId === undefined ? keep : { ...keep, ownerId } };
}

async function restored(store: Store, entry = 'entry'): Promise<unknown> {
  const answer = await store.restoreTrash(entry, []);
  assert.equal(answer.outcome, 'restored', JSON.stringify(answer));
  return 'dropped' in answer ? answer.dropped : undefined;
}

const list = (store: Store): Promise<readonly TrashEntry[]> =>
  store.listTrash({
    realmId: 'realm-1',
    kinds: ['user', 'client', 'group'],
    search: '',
    first: 0,
    max: 100,
  });

/** Defines the rules of the bin. */
export function trashRules(rule: Rule): void {
  rule(
    'restores a user with credentials, roles, groups and consents, but without sessions or older tokens',
    async (store, _, other) => {
      await begin(store);
      await addLinks(store);
      const before = await userState(store);
      await deleted(store, remove('user', 'user-1'));
      assert.equal(await store.findUser('realm-1', 'user-1'), undefined);
      assert.equal((await store.figures()).userSessions, 0);
      const [entry] = await list(store);
      assert.deepEqual(entry, {
        id: 'entry',
        realmId: 'realm-1',
        kind: 'user',
        recordId: 'user-1',
        name: before.user?.username,
        deletedAt: START * 1000,
        deletedBy: BY,
        expiresAt: START + DAY,
        state: 'whole',
      });
      await waitUntil('the other store follows', async () => {
        return (await other.findUser('realm-1', 'user-1')) === undefined;
      });
      assert.deepEqual(await restored(store), []);
      const after = await userState(store);
      assert.deepEqual(settled(after.user), settled(before.user));
      assert.equal(after.user?.notBefore, START + 1);
      assert.deepEqual(after.rest, before.rest);
      assert.equal((await store.figures()).userSessions, 0);
      assert.deepEqual(await list(store), []);
      await waitUntil('the other store has the user again', async () => {
        return (await other.findUser('realm-1', 'user-1')) !== undefined;
      });
    },
  );

  rule(
    '"Exactly one of several parallel calls returns `restored`. The others return `gone`."',
    async (store, _, other) => {
      await begin(store);
      await deleted(store, remove('user', 'user-1'));
      const answers = await many(8, [store, other], async (one, i) =>
        i === 7 ? await one.eraseTrash('entry', []) : (await one.restoreTrash('entry', [])).outcome,
      );
      const won = answers.filter((answer) => answer === 'restored' || answer === 'erased');
      assert.equal(won.length, 1, answers.join(' '));
      assert.equal((await store.restoreTrash('entry', [])).outcome, 'gone');
      assert.equal(await store.eraseTrash('entry', []), 'missing');
    },
  );

  rule('"If the id or the name is taken, nothing changes."', async (store) => {
    await begin(store);
    const email = 'alice@example.test';
    const user = await store.findUser('realm-1', 'user-1');
    await applyAsRead(store, [{ do: 'put', user: { ...user!, email } }]);
    await deleted(store, remove('user', 'user-1'));
    const taken: readonly (readonly [Change, string])[] = [
      [{ do: 'create', user: aUser({ id: 'other', email: 'o@example.test' }) }, 'user.username'],
      [{ do: 'create', user: aUser({ id: 'other', username: 'o', email }) }, 'user.email'],
      [{ do: 'create', user: aUser({ username: 'o', email: 'o@example.test' }) }, 'user.id'],
    ];
    for (const [change, on] of taken) {
      await deleted(store, change);
      const answer = await store.restoreTrash('entry', []);
      assert.equal(answer.outcome === 'conflict' && answer.on, on);
      assert.equal((await store.findTrash('entry'))?.state, 'whole');
      const id = 'user' in change ? change.user.id : '';
      await deleted(store, { do: 'remove', what: 'user', id });
    }
    assert.equal((await store.restoreTrash('entry', [], 'renamed')).outcome, 'restored');
    const renamed = await store.findUser('realm-1', 'user-1');
    assert.deepEqual([renamed?.username, renamed?.email], ['renamed', email]);
  });

  rule(
    'restores a client with its roles, service account, and every reference to its roles',
    async (store) => {
      await begin(store);
      await addLinks(store);
      await deleted(
        store,
        {
          do: 'create',
          role: aRole({ id: 'of-client', name: 'edit', clientUuid: 'client-1', compositeIds: ['role-1'] }),
        },
        { do: 'create', role: aRole({ id: 'boss', name: 'boss', compositeIds: ['of-client'] }) },
        { do: 'create', group: aGroup({ id: 'editors', name: 'editors', roleIds: ['of-client'] }) },
        { do: 'create', client: aClient({ id: 'client-2', clientId: 'two', scopeRoleIds: ['of-client'] }) },
        {
          do: 'create',
          user: aUser({
            id: 'robot',
            username: 'robot',
            email: 'r@example.test',
            serviceAccountClientUuid: 'client-1',
            roleIds: ['role-1'],
          }),
        },
        { do: 'assign', userId: 'user-1', roleIds: ['of-client'] },
      );
      const before = await clientState(store);
      await deleted(store, remove('client', 'client-1'));
      assert.deepEqual((await clientState(store)).references, [[], [], []]);
      assert.deepEqual(await restored(store), []);
      const after = await clientState(store);
      assert.deepEqual(settled(after), settled(before));
      assert.equal((await store.findClientByUuid('realm-1', 'client-1'))?.notBefore, START + 1);
    },
  );

  rule('restores a realm with the client of another realm that its entry owns', async (store, _, other) => {
    await begin(store);
    await addLinks(store);
    await deleted(
      store,
      { do: 'create', realm: aRealm({ id: 'realm-2', name: 'second' }) },
      { do: 'create', client: aClient({ id: 'manager', clientId: 'test-realm', realmId: 'realm-2' }) },
      {
        do: 'create',
        role: aRole({ id: 'manage', name: 'manage', clientUuid: 'manager', realmId: 'realm-2' }),
      },
      {
        do: 'create',
        role: aRole({ id: 'admin', name: 'admin', realmId: 'realm-2', compositeIds: ['manage'] }),
      },
    );
    const before = await userState(store);
    const realm = await store.findRealmById('realm-1');
    await deleted(store, remove('realm', 'realm-1'), remove('client', 'manager', 'owned', 'entry'));
    assert.equal(await store.findRealmById('realm-1'), undefined);
    const realms = await store.listDeletedRealms({ search: '', first: 0, max: 10 });
    assert.deepEqual(
      realms.map(({ kind, name }) => [kind, name]),
      [['realm', realm?.realm.name]],
    );
    assert.equal((await store.restoreTrash('owned', [])).outcome, 'gone');
    assert.deepEqual(await restored(store), []);
    const after = await store.findRealmById('realm-1');
    const { notBefore, ...settings } = after!.realm.settings;
    const { notBefore: _before, ...settingsBefore } = realm!.realm.settings;
    assert.deepEqual(settings, settingsBefore);
    assert.equal(notBefore, START + 1);
    for (const part of ['roles', 'groups', 'clientScopes'] as const)
      assert.deepEqual([...after![part]].sort(byId), [...realm![part]].sort(byId), part);
    assert.deepEqual(after!.components, realm!.components);
    assert.deepEqual(await userState(store), before);
    const second = await store.findRealmById('realm-2');
    assert.deepEqual(second?.roles.get('admin')?.compositeIds, ['manage']);
    await waitUntil('the other store has the realm', async () => {
      return (await other.findRealm(realm!.realm.name)) !== undefined;
    });
  });

  rule(
    'moves many dependents in slices, continues after an interruption, and restores what an unfinished deletion moved',
    async (store) => {
      await begin(store);
      await deleted(
        store,
        { do: 'create', role: aRole({ id: 'of-client', name: 'edit', clientUuid: 'client-1' }) },
        { do: 'create', group: aGroup({ id: 'top', name: 'top' }) },
        { do: 'create', group: aGroup({ id: 'below', name: 'below', parentId: 'top' }) },
      );
      await addMany(store);
      const before = await linkCounts(store);
      assert.deepEqual(before, [MANY, MANY, MANY + 1]);
      for (const [what, id] of [
        ['group', 'top'],
        ['client', 'client-1'],
        ['realm', 'realm-1'],
      ] as const) {
        afterSlices(store, async () => {
          throw new Error('the database fails');
        });
        await assert.rejects(store.apply([remove(what, id, `first ${what}`)]), /the database fails/, what);
        const entry = await store.findTrash(`first ${what}`);
        assert.equal(entry?.state, 'deleting', what);
        assert.equal(await store.eraseTrash(`first ${what}`, []), 'busy', what);
        // The operator decides to keep the record.
        await restored(store, `first ${what}`);
        assert.deepEqual(await linkCounts(store), before, what);
        assert.equal((await store.findClientByUuid('realm-1', 'client-1'))?.enabled, true);
        assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, true);
        // An interrupted deletion that is repeated has one entry.
        afterSlices(store, async () => {
          throw new Error('the database fails');
        });
        await assert.rejects(store.apply([remove(what, id, `one ${what}`)]), /the database fails/, what);
        await deleted(store, remove(what, id, `other ${what}`));
        assert.equal(await store.findTrash(`other ${what}`), undefined, what);
        assert.equal((await store.findTrash(`one ${what}`))?.state, 'whole', what);
        await restored(store, `one ${what}`);
        assert.deepEqual(await linkCounts(store), before, what);
      }
      assert.equal((await store.findClientByUuid('realm-1', 'client-1'))?.enabled, true);
      assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, true);
      assert.deepEqual(await store.countUsers({ realmId: 'realm-1' }), MANY + 1);
    },
  );

  rule('an interrupted restore leaves the realm disabled, and the next call finishes it', async (store) => {
    await begin(store);
    await addMany(store);
    await deleted(store, remove('realm', 'realm-1'));
    failAtSlice(store, 3);
    await assert.rejects(store.restoreTrash('entry', []), /the database fails/);
    assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, false);
    assert.equal((await store.findTrash('entry'))?.state, 'restoring');
    assert.equal(await store.eraseTrash('entry', []), 'busy');
    await restored(store);
    assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, true);
    assert.equal(await store.countUsers({ realmId: 'realm-1' }), MANY + 1);
  });

  rule('a sweep erases expired entries with their admin events, and no others', async (store, setSeconds) => {
    await begin(store);
    const settings = { ...aRealm({}).settings, adminEventsEnabled: true };
    await applyAsRead(store, [{ do: 'put', realm: aRealm({ settings }) }]);
    await deleted(store, remove('user', 'user-1', 'old'));
    await deleted(store, {
      do: 'remove',
      what: 'group',
      id: 'group-1',
      keep: { id: 'new', at: START * 1000, by: BY, expiresAt: START + 2 * DAY },
    });
    const event = async (entry: TrashEntry): Promise<readonly AdminEvent[]> => [
      {
        id: entry.id,
        time: START,
        realmId: 'realm-1',
        authRealmId: 'realm-1',
        authClientId: '',
        authUserId: '',
        authIpAddress: '',
        operationType: 'DELETE',
        resourceType: 'USER',
        resourcePath: `trash/${entry.id}/expired`,
      },
    ];
    const early = await store.sweepTrash(START + DAY - 1, 100, event);
    assert.deepEqual([early.removed, early.more], [0, false]);
    setSeconds(START + DAY);
    assert.equal((await store.sweepTrash(START + DAY, 100, event)).removed, 1);
    assert.deepEqual(
      (await list(store)).map(({ id }) => id),
      ['new'],
    );
    assert.equal((await store.restoreTrash('old', [])).outcome, 'gone');
    const events = await store.listAdminEvents({ realmId: 'realm-1', first: 0, max: 10 });
    assert.deepEqual(
      events.map(({ resourcePath }) => resourcePath),
      ['trash/old/expired'],
    );
    assert.equal((await store.sweepTrash(START + DAY, 100, event)).removed, 0);
  });

  rule(
    'an erasure removes earlier entries of the record, and a user from the entries of others',
    async (store) => {
      await begin(store);
      await addLinks(store);
      await deleted(store, remove('user', 'user-1', 'earlier'));
      await deleted(store, { do: 'create', user: aUser({ groupIds: ['group-1'] }) });
      await deleted(store, remove('group', 'group-1', 'of group'));
      await deleted(store, { do: 'remove', what: 'user', id: 'user-1', erase: true });
      assert.deepEqual(
        (await list(store)).map(({ id }) => id),
        ['of group'],
      );
      await store.sweepTrash(START, 100);
      assert.equal((await store.restoreTrash('earlier', [])).outcome, 'gone');
      // The entry of the group does not mention the user any more.
      assert.deepEqual(await restored(store, 'of group'), []);
    },
  );
}
