import assert from 'node:assert/strict';
import type { Change, Store } from '../../../src/store/index.ts';
import { waitUntil } from '../../wait-until.ts';
import { afterSlices, MANY, startSessions } from './many.ts';
import { aClient, aConsent, aFamily, aGroup, aRole, aSession, aUser, START } from './records.ts';
import { begin, type Rule } from './suite.ts';

/** Defines the rules of records that are removed in slices before the record on which they depend. */
export function dependentRules(rule: Rule): void {
  rule(
    'removes the consents of a client, the sessions of its service account and the users of its roles in slices',
    async (store) => {
      await begin(store);
      const removals: Readonly<Record<string, () => Promise<void>>> = {
        consents: async () => {
          await createUsers(store, 'c', {});
          const consents = Array.from({ length: MANY }, (_, i) => aConsent({ userId: `c${i}` }));
          await store.apply(consents.map((consent) => ({ do: 'putConsent' as const, consent })));
        },
        sessions: async () => {
          await store.apply([
            {
              do: 'create',
              user: aUser({ id: 'robot', username: 'robot', serviceAccountClientUuid: 'client-1' }),
            },
            { do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) },
          ]);
          for (let i = 0; i < MANY; i++) {
            const of = { userId: 'robot', sessionId: `r${i}`, clientUuid: 'client-2' };
            await store.startSession(
              aSession({ id: `r${i}`, userId: 'robot' }),
              aFamily({ ...of, id: `r${i}` }),
            );
          }
        },
        roles: async () => {
          await store.apply([
            { do: 'create', role: aRole({ id: 'of-client', name: 'one', clientUuid: 'client-1' }) },
          ]);
          await createUsers(store, 'u', { roleIds: ['of-client'] });
        },
      };
      const left: Readonly<Record<string, () => Promise<unknown>>> = {
        consents: async () => (await store.listConsents('c3')).length,
        sessions: async () => (await store.listUserSessions('robot', false)).length,
        roles: async () => (await store.listUsersWithRole('of-client', 0, 5)).length,
      };
      for (const [what, add] of Object.entries(removals)) {
        await add();
        assert.notEqual(await left[what]!(), 0, what);
        afterSlices(store, async () => {
          throw new Error('the database fails');
        });
        await assert.rejects(
          store.apply([{ do: 'remove', what: 'client', id: 'client-1' }]),
          /the database fails/,
          what,
        );
        assert.equal(await left[what]!(), 0, what);
        assert.equal((await store.findClientByUuid('realm-1', 'client-1'))?.enabled, false);
      }
      assert.deepEqual(await store.apply([{ do: 'remove', what: 'client', id: 'client-1' }]), {
        outcome: 'applied',
      });
      assert.equal(await store.findUser('realm-1', 'robot'), undefined);
    },
  );

  rule(
    'removes the members of a group with its subgroups, and the users of a role, in slices that all caches follow',
    async (store, _, other) => {
      await begin(store);
      await store.apply([
        { do: 'create', role: aRole({ id: 'common', name: 'common' }) },
        { do: 'create', group: aGroup({ id: 'top', name: 'top' }) },
        { do: 'create', group: aGroup({ id: 'below', name: 'below', parentId: 'top' }) },
      ]);
      await createUsers(store, 'u', { roleIds: ['common'], groupIds: ['below'] });
      const links = async (one: Store) => {
        const user = await one.findUser('realm-1', 'u3');
        return [[...user!.roleIds], [...user!.groupIds]];
      };
      const removals = [
        { remove: { do: 'remove', what: 'group', id: 'top' }, after: [['common'], []] },
        { remove: { do: 'remove', what: 'role', id: 'common' }, after: [[], []] },
      ] as const;
      for (const { remove, after } of removals) {
        await links(store);
        await links(other);
        afterSlices(store, async () => {
          throw new Error('the database fails');
        });
        await assert.rejects(store.apply([remove]), /the database fails/, remove.what);
        assert.deepEqual(await links(store), after);
        await waitUntil('the other store follows', async () => {
          return JSON.stringify(await links(other)) === JSON.stringify(after);
        });
        const user = await store.findUser('realm-1', 'u3');
        const put: Change = { do: 'put', user: { ...user!, notBefore: START } };
        assert.deepEqual(await store.apply([put, remove]), { outcome: 'applied' });
      }
      const realm = await store.findRealmById('realm-1');
      assert.deepEqual([realm?.groups.has('below'), realm?.roles.has('common')], [false, false]);
    },
  );

  rule('checks the rest of a list before it removes many records in slices', async (store) => {
    await begin(store);
    await startSessions(store, { userId: 'user-1', offline: false });
    const missing = { do: 'remove', what: 'client', id: 'no-client' } as const;
    const refused = { outcome: 'missing', what: 'client', id: 'no-client' };
    const lists: readonly (readonly Change[])[] = [
      [{ do: 'remove', what: 'realm', id: 'realm-1' }, missing],
      [{ do: 'remove', what: 'client', id: 'client-1' }, missing],
      [{ do: 'endSessions', userId: 'user-1', offlineToo: true }, missing],
    ];
    for (const list of lists) assert.deepEqual(await store.apply(list), refused);
    const { userSessions, tokenFamilies } = await store.figures();
    assert.deepEqual([userSessions, tokenFamilies], [MANY + 1, MANY + 1]);
    assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, true);
    assert.equal((await store.findClientByUuid('realm-1', 'client-1'))?.enabled, true);
    // The name is free only after the removal.
    const again = [
      { do: 'remove', what: 'user', id: 'user-1' },
      { do: 'create', user: aUser({ id: 'user-2' }) },
    ] as const;
    assert.deepEqual(await store.apply(again), { outcome: 'applied' });
    assert.equal((await store.figures()).userSessions, 0);
  });

  rule(
    'removes the dependents of each record of a list in slices, however many records they are',
    async (store) => {
      await begin(store);
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      await store.apply(
        ids.map((id) => ({
          do: 'create',
          user: aUser({ id, username: `user ${id}`, email: `${id}@example.test` }),
        })),
      );
      for (const userId of ids) await startSessions(store, { userId, offline: true, count: MANY - 1 });
      const sliced: string[] = [];
      const inner = store as unknown as {
        removeMany: (of: { id: string }, ...rest: unknown[]) => Promise<void>;
      };
      const original = inner.removeMany;
      inner.removeMany = async (of, ...rest) => {
        sliced.push(of.id);
        await original.call(store, of, ...rest);
      };
      const removals = ids.map((id) => ({ do: 'remove' as const, what: 'user' as const, id }));
      assert.deepEqual(await store.apply(removals), { outcome: 'applied' });
      assert.deepEqual(sliced, ids);
    },
  );

  rule(
    'removes the login failures of a realm in slices, also those of users that do not exist',
    async (store) => {
      await begin(store);
      const fail = () =>
        Promise.all(
          Array.from({ length: MANY }, (_, i) =>
            store.putLoginFailures({
              realmId: 'realm-1',
              userId: `gone ${i}`,
              revision: 0,
              failures: 1,
              temporaryLockouts: 0,
              lastFailureAt: START * 1000,
              lockedUntil: 0,
              lastIpAddress: '127.0.0.1',
            }),
          ),
        );
      await fail();
      assert.ok(await store.findLoginFailures('realm-1', 'gone 3'));
      await store.removeLoginFailures('realm-1');
      for (let i = 0; i < MANY; i++)
        assert.equal(await store.findLoginFailures('realm-1', `gone ${i}`), undefined);
      await fail();
      afterSlices(store, async () => {
        throw new Error('the database fails');
      });
      await assert.rejects(
        store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]),
        /the database fails/,
      );
      assert.equal(await store.findLoginFailures('realm-1', 'gone 3'), undefined);
    },
  );
}

async function createUsers(
  store: Store,
  prefix: string,
  more: { roleIds?: readonly string[]; groupIds?: readonly string[] },
): Promise<void> {
  await store.apply(
    Array.from({ length: MANY }, (_, i) => {
      const id = `${prefix}${i}`;
      return {
        do: 'create' as const,
        user: aUser({ id, username: id, email: `${id}@example.test`, ...more }),
      };
    }),
  );
}
