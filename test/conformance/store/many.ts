import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, Store } from '../../../src/store/index.ts';
import { applyAsRead } from '../../store/as-read.ts';
import { aClient, aFamily, aRealm, aRole, aSession, aUser, START } from './records.ts';
import { begin, type Rule } from './suite.ts';

/** More records than one transaction removes. */
export const MANY = 620;

const ADMIN_EVENT = {
  authRealmId: 'master',
  authClientId: 'admin-cli',
  authUserId: 'administrator',
  authIpAddress: '127.0.0.1',
  operationType: 'UPDATE',
  resourceType: 'USER',
  resourcePath: 'users/1',
} as const;

/** Defines the rules of removals that run in slices. */
export function manyRules(rule: Rule): void {
  rule('reports expired records until a sweep removes them', async (store) => {
    await begin(store);
    await store.claimOnce('claim', START + 60);
    const later = START + 3600 + 120;
    const due = async (now: number) =>
      (await store.listDue(now)).filter(({ records, overdueSeconds }) => records + overdueSeconds > 0);
    assert.deepEqual(await due(START + 59), []);
    assert.deepEqual(await due(START + 90), [{ kind: 'claims', records: 1, overdueSeconds: 30 }]);
    assert.deepEqual(await due(later), [
      { kind: 'sessions', records: 1, overdueSeconds: 120 },
      { kind: 'claims', records: 1, overdueSeconds: 3660 },
    ]);
    assert.equal((await store.listDue(later)).length, 7, 'every kind is reported');
    await store.sweep(later, 100);
    assert.deepEqual(await due(later), []);
  });

  rule('reports events that their realm no longer keeps until a sweep removes them', async (store) => {
    await begin(store);
    const { settings } = aRealm({});
    const keeping = (more: object) => ({ ...settings, ...more });
    await applyAsRead(store, [{ do: 'put', realm: aRealm({ settings: keeping({ eventsExpiration: 60 }) }) }]);
    await store.apply([
      {
        do: 'create',
        realm: aRealm({
          id: 'realm-2',
          name: 'second',
          settings: keeping({ attributes: { adminEventsExpiration: '30' } }),
        }),
      },
    ]);
    const event = { id: '1', type: 'LOGIN', details: {} };
    const times = [START, START + 40, START + 100].map((time) => time * 1000);
    for (const realmId of ['realm-1', 'realm-2']) {
      await store.appendEvents(times.map((time) => ({ ...event, realmId, time })));
      const adminEvents = times.map((time) => ({ ...ADMIN_EVENT, id: `${realmId} ${time}`, realmId, time }));
      await store.apply(adminEvents.map((adminEvent) => ({ do: 'record', adminEvent })));
    }
    const due = async (now: number) =>
      (await store.listDue(now)).filter(({ kind }) => kind === 'events' || kind === 'adminEvents');
    assert.deepEqual(await due(START + 20), [
      { kind: 'events', records: 0, overdueSeconds: 0 },
      { kind: 'adminEvents', records: 0, overdueSeconds: 0 },
    ]);
    const later = START + 105;
    const expected = [
      { kind: 'events', records: 2, overdueSeconds: 45 },
      { kind: 'adminEvents', records: 2, overdueSeconds: 75 },
    ];
    assert.deepEqual(await due(later), expected, 'the first realm keeps its administrative events');
    await store.sweepEvents(later, 100);
    assert.deepEqual(
      await due(later),
      expected.map(({ kind }) => ({ kind, records: 0, overdueSeconds: 0 })),
    );
  });

  rule('removes the old events of every realm although some realms always have more', async (store) => {
    const { settings } = aRealm({});
    const adminEventsExpiration = '99999999999999999999';
    const kept = { ...settings, eventsExpiration: 60, attributes: { adminEventsExpiration } };
    const realms = ['realm-1', 'realm-2', 'realm-3', 'realm-4'];
    for (const id of realms)
      await store.apply([{ do: 'create', realm: aRealm({ id, name: id, settings: kept, secrets: {} }) }]);
    const add = (realmId: string, count: number, time: number) =>
      store.appendEvents(
        Array.from({ length: count }, (_, i) => ({
          id: `${realmId} ${time} ${i}`,
          time: (START + time) * 1000 + i,
          type: 'LOGIN',
          realmId,
          details: {},
        })),
      );
    for (const id of realms) await add(id, 5, 0);
    await add('realm-4', 1, 200);
    const left = async (realmId: string) =>
      (await store.listEvents({ realmId, first: 0, max: 1_000 })).length;
    for (let slice = 1; slice <= 4; slice++) {
      await add('realm-1', 30, slice);
      await add('realm-2', 30, slice);
      assert.deepEqual(await store.sweepEvents(START + 100, 20), { removed: 20, handled: 20, more: true });
    }
    assert.deepEqual(await Promise.all(['realm-3', 'realm-4'].map(left)), [0, 1]);
    const ids = realms.slice(0, 3);
    const long = { ...kept, eventsExpiration: 300 };
    await applyAsRead(
      store,
      ids.map((id) => ({ do: 'put', realm: aRealm({ id, name: id, settings: long, secrets: {} }) })),
    );
    const nothing = { removed: 0, handled: 0, more: false };
    assert.deepEqual(await store.sweepEvents(START + 100, 20), nothing, 'a changed setting applies at once');
    await store.apply(ids.map((id) => ({ do: 'remove', what: 'realm', id })));
    assert.deepEqual(await store.sweepEvents(START + 300, 20), { removed: 1, handled: 1, more: false });
  });

  rule('a sweep ends although the configuration changes all the time', async (store) => {
    const realms = Array.from({ length: 12 }, (_, i) => `r${i}`);
    for (const realmId of realms) {
      const of = { realmId, clientUuid: `${realmId} client` };
      await store.apply([
        { do: 'create', realm: aRealm({ id: realmId, name: realmId }) },
        { do: 'create', client: aClient({ id: of.clientUuid, realmId, secrets: {} }) },
        { do: 'create', user: aUser({ id: `${realmId} user`, realmId }) },
      ]);
      const session = { realmId, userId: `${realmId} user` };
      await store.startSession(
        aSession({ ...session, id: realmId }),
        aFamily({ ...session, ...of, id: realmId, sessionId: realmId }),
      );
    }
    let swept = false;
    const sweep = store.sweep(START + 90_000, 100).finally(() => {
      swept = true;
    });
    let changes = 0;
    for (; !swept && changes < 2_000; changes++)
      await store.apply([
        { do: 'create', client: aClient({ id: `${changes}`, clientId: `${changes}`, realmId: 'r0' }) },
      ]);
    assert.ok(changes < 2_000, 'the sweep ends first');
    assert.equal((await sweep).removed, realms.length);
  });

  rule('ends all sessions of a user, however many there are, and no others', async (store) => {
    await begin(store);
    await store.apply([{ do: 'create', user: aUser({ id: 'user-2', username: 'bob' }) }]);
    await startSessions(store, { userId: 'user-1', offline: false });
    await startSessions(store, { userId: 'user-1', offline: true, count: 3 });
    await startSessions(store, { userId: 'user-2', offline: false, count: 2 });
    assert.deepEqual(await store.endUserSessions('user-1', { offlineToo: false }), { ended: MANY + 1 });
    assert.deepEqual(await store.listUserSessions('user-1', false), []);
    assert.equal((await store.listUserSessions('user-1', true)).length, 3);
    assert.equal((await store.listUserSessions('user-2', false)).length, 2);
    assert.deepEqual(await store.endUserSessions('user-1', { offlineToo: true }), { ended: 3 });
  });

  rule('a change that ends many sessions is applied as a whole, or ends none of them', async (store) => {
    await begin(store);
    await startSessions(store, { userId: 'user-1', offline: false });
    const end = { do: 'endSessions', userId: 'user-1', offlineToo: true } as const;
    const refused = await store.apply([{ do: 'put', user: aUser({ enabled: false }) }, end]);
    assert.equal(refused.outcome, 'stale');
    assert.equal((await store.figures()).userSessions, MANY + 1);
    const user = await store.findUser('realm-1', 'user-1');
    assert.ok(user);
    assert.deepEqual(await store.apply([{ do: 'put', user: { ...user, enabled: false } }, end]), {
      outcome: 'applied',
    });
    assert.equal((await store.findUser('realm-1', 'user-1'))?.enabled, false);
    assert.deepEqual(await store.listUserSessions('user-1', false), []);
  });

  rule(
    'reports that many sessions of a user have ended if it then rejects the change or fails',
    async (store) => {
      await begin(store);
      const role = aRole({ id: 'role-2', name: 'two' });
      await store.apply([
        { do: 'create', role },
        { do: 'create', user: aUser({ id: 'user-2', username: 'bob' }) },
      ]);
      const end = { do: 'endSessions', userId: 'user-1', offlineToo: true } as const;
      const change = async (): Promise<Change> => {
        const user = await store.findUser('realm-1', 'user-1');
        return { do: 'put', user: { ...user!, notBefore: START } };
      };
      const ended = { endedSessionsOf: ['user-1'] };
      const stale = { outcome: 'stale', what: 'user', id: 'user-1' };
      const remove = { do: 'remove', what: 'user', id: 'user-1' } as const;
      const taken = { do: 'create', user: aUser({ id: 'user-3', username: 'bob' }) } as const;
      const conflict = { outcome: 'conflict', on: 'user.username', value: 'bob' };
      const early = await change();
      await store.apply([{ do: 'assign', userId: 'user-1', roleIds: [role.id] }]);
      assert.deepEqual(await store.apply([early, end]), stale, 'few sessions end together with the change');
      assert.deepEqual(await store.apply([remove, taken]), conflict);
      assert.ok(await store.findSession('session-1', false));

      await startSessions(store, { userId: 'user-1', offline: false });
      afterSlices(store, () => store.apply([{ do: 'unassign', userId: 'user-1', roleIds: [role.id] }]));
      assert.deepEqual(await store.apply([await change(), end]), { ...stale, ...ended });
      assert.deepEqual(await store.listUserSessions('user-1', false), []);

      await startSessions(store, { userId: 'user-1', offline: false });
      assert.deepEqual(await store.apply([remove, taken]), { ...conflict, ...ended });
      assert.ok(await store.findUser('realm-1', 'user-1'));

      await startSessions(store, { userId: 'user-1', offline: false });
      afterSlices(store, async () => {
        throw new Error('the database fails');
      });
      await assert.rejects(store.apply([remove]), { message: 'the database fails', ...ended });
    },
  );

  rule('removes a user with many sessions', async (store) => {
    await begin(store);
    await startSessions(store, { userId: 'user-1', offline: true });
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'user', id: 'user-1' }]), {
      outcome: 'applied',
    });
    const { users, userSessions, offlineSessions, tokenFamilies } = await store.figures();
    assert.deepEqual([users, userSessions, offlineSessions, tokenFamilies], [0, 0, 0, 0]);
  });

  rule(
    'removes a client with many token families, whose sessions keep the time of their last use',
    async (store) => {
      await begin(store);
      await store.apply([{ do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) }]);
      await startSessions(store, { userId: 'user-1', offline: false });
      const family = aFamily({ id: 'of two', sessionId: 's7', clientUuid: 'client-2', lastRefreshAt: START });
      await store.startSession(aSession({ id: 's7' }), family);
      assert.deepEqual(await store.apply([{ do: 'remove', what: 'client', id: 'client-1' }]), {
        outcome: 'applied',
      });
      assert.equal((await store.figures()).tokenFamilies, 1);
      assert.ok(await store.findFamily('s7', 'of two'));
      const sessions = await store.listUserSessions('user-1', false);
      assert.equal(sessions.length, MANY + 1);
      const used = sessions.filter(({ session }) => session.lastAccessAt === START + 30);
      assert.equal(used.length, MANY);
    },
  );

  rule('disables a client with many token families before it removes them', async (store) => {
    await begin(store);
    await startSessions(store, { userId: 'user-1', offline: false });
    afterSlices(store, async () => {
      throw new Error('the database fails');
    });
    const remove = { do: 'remove', what: 'client', id: 'client-1' } as const;
    await assert.rejects(store.apply([remove]), /the database fails/);
    assert.ok((await store.figures()).tokenFamilies < MANY, 'a part of them is removed');
    const client = await store.findClientByUuid('realm-1', 'client-1');
    assert.equal(client?.enabled, false);
    assert.deepEqual(client?.secrets, aClient({}).secrets);
    assert.deepEqual(await store.apply([remove]), { outcome: 'applied' });
  });

  rule(
    'no store finds the users of a realm whose removal failed after it had removed them',
    async (store, _, other) => {
      await begin(store);
      await store.apply(
        Array.from({ length: MANY }, (_, i) => ({
          do: 'create' as const,
          user: aUser({ id: `u${i}`, username: `user${i}` }),
        })),
      );
      assert.ok(await store.findUser('realm-1', 'u0'));
      assert.ok(await other.findUser('realm-1', 'u0'));
      afterSlices(store, async () => {
        throw new Error('the database fails');
      });
      await assert.rejects(
        store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]),
        /the database fails/,
      );
      assert.equal((await store.findRealmById('realm-1'))?.realm.settings.enabled, false);
      assert.equal(await store.findUser('realm-1', 'u0'), undefined);
      const until = performance.now() + 1_000;
      while ((await other.findUser('realm-1', 'u0')) !== undefined) {
        assert.ok(performance.now() < until, 'the other store follows within a second');
        await sleep(5);
      }
    },
  );

  rule(
    'removes a realm with many users, sessions and events, and ends all sessions of a realm',
    async (store) => {
      await begin(store);
      await store.apply([
        { do: 'create', realm: aRealm({ id: 'realm-2', name: 'other' }) },
        { do: 'create', user: aUser({ id: 'stays', realmId: 'realm-2' }) },
        ...Array.from({ length: MANY }, (_, i) => ({
          do: 'create' as const,
          user: aUser({ id: `u${i}`, username: `user${i}` }),
        })),
      ]);
      await startSessions(store, { userId: 'u3', offline: false });
      await store.startSession(
        aSession({ id: 'kept', realmId: 'realm-2', userId: 'stays' }),
        aFamily({ id: 'kept', sessionId: 'kept', realmId: 'realm-2', userId: 'stays' }),
      );
      await startSessions(store, { userId: 'u4', offline: true, count: 2 });
      assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: MANY + 1 });
      assert.equal((await store.figures()).userSessions, 1);
      assert.equal((await store.figures()).offlineSessions, 2);

      await startSessions(store, { userId: 'u5', offline: false });
      const event = { id: 'e', time: START * 1000, type: 'LOGIN', details: {} };
      await store.appendEvents(Array.from({ length: MANY }, () => ({ ...event, realmId: 'realm-1' })));
      await store.appendEvents([{ ...event, realmId: 'realm-2' }]);
      assert.deepEqual(await store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]), {
        outcome: 'applied',
      });
      const { realms, users, userSessions, offlineSessions } = await store.figures();
      assert.deepEqual([realms, users, userSessions, offlineSessions], [1, 1, 1, 0]);
      assert.equal(await store.findRealmById('realm-1'), undefined);
      assert.deepEqual(await store.listEvents({ realmId: 'realm-1', first: 0, max: 1 }), []);
      assert.equal((await store.listEvents({ realmId: 'realm-2', first: 0, max: 9 })).length, 1);
    },
  );
}

/** Runs `work` once, after the next change has removed records in slices and before it is applied. */
export function afterSlices(store: Store, work: () => Promise<unknown>): void {
  const inner = store as unknown as { removeMany: (...values: unknown[]) => Promise<void> };
  const original = inner.removeMany;
  inner.removeMany = async (...values) => {
    inner.removeMany = original;
    await original.apply(store, values);
    await work();
  };
}

/** Starts sessions of a user, each with one token family that was refreshed 30 s after the start. */
export async function startSessions(
  store: Store,
  { userId, offline, count = MANY }: { userId: string; offline: boolean; count?: number },
): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) => {
      const id = `${count === MANY ? '' : userId}${offline ? 'o' : 's'}${i}`;
      return store.startSession(
        aSession({ id, userId, offline }),
        aFamily({ id, sessionId: id, userId, offline, lastRefreshAt: START + 30 }),
      );
    }),
  );
}
