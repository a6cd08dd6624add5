import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START } from '../conformance/store/records.ts';
import { isOldOffline, oldFamilyId, oldHash, oldSessionId } from './first-release.ts';
import { CLIENTS, moveAll, numbers, onPostgres, onSqlite, rotate, USERS } from './old-databases.ts';
import { missingPostgres } from './postgres-server.ts';

for (const [database, make, skip] of [
  ['SQLite', onSqlite, undefined],
  ['Postgres', onPostgres, missingPostgres()],
] as const) {
  test(`${database}: sessions of version 0.1.0 can be used before and after they are moved`, {
    skip: skip ?? false,
  }, async (t) => {
    const count = 730;
    const { open, unmoved } = await make(t, count);
    const store = await open();
    assert.equal((await store.countClientSessions('realm-1')).length, 2);
    const { userSessions, offlineSessions, tokenFamilies } = await store.figures();
    assert.deepEqual([userSessions, offlineSessions, tokenFamilies], [657, 73, 835]);
    const find = (n: number, which: 'f' | 'g' = 'f') =>
      store.findFamily(oldSessionId(n), oldFamilyId(n, which));

    assert.deepEqual(await find(0), {
      family: {
        id: oldFamilyId(0),
        sessionId: oldSessionId(0),
        offline: false,
        realmId: 'realm-1',
        clientUuid: 'client-1',
        userId: 'user-0',
        currentHash: oldHash(0, 'newest'),
        parentHash: oldHash(0, 'parent'),
        parentUses: 1,
        scope: 'openid email',
        startedAt: START,
        lastRefreshAt: START,
        notes: { nonce: 'n' },
      },
      session: {
        id: oldSessionId(0),
        offline: false,
        realmId: 'realm-1',
        userId: 'user-0',
        startedAt: START,
        lastAccessAt: START,
        ipAddress: '192.0.2.0',
        rememberMe: false,
        notes: { auth_time: '1', acr: 'ä"1' },
      },
    });
    assert.deepEqual((await find(7, 'g'))?.family.clientUuid, CLIENTS[1]);
    assert.equal((await store.findSession(oldSessionId(19), true))?.offline, true);
    assert.equal(await store.findSession(oldSessionId(19), false), undefined);
    assert.equal(await store.findSession(oldSessionId(count), false), undefined);
    assert.equal(await store.findFamily(oldSessionId(1), oldFamilyId(2)), undefined);
    assert.equal(await store.hasFamily(oldSessionId(14), false, CLIENTS[1]), true);
    assert.deepEqual(await rotate(store, 1, oldHash(1, 'newest'), 'next 1'), { outcome: 'rotated' });
    assert.deepEqual(await rotate(store, 2, oldHash(2, 'parent'), 'thief'), {
      outcome: 'reused',
      reason: 'exceeded',
      clientUuids: ['client-1'],
    });
    assert.equal(await store.findSession(oldSessionId(2), false), undefined);
    assert.deepEqual(await store.endSession(oldSessionId(4), false), { ended: true });
    assert.deepEqual(await store.endSession(oldSessionId(4), false), { ended: false });
    assert.deepEqual(await store.removeFamily(oldSessionId(6), oldFamilyId(6)), { removed: true });

    const gone = new Set([2, 4, 6]);
    const living = numbers(count, (n) => !gone.has(n));
    const listed = async (offline: boolean, clientUuid: string) => {
      const ids: string[] = [];
      for await (const page of store.clientSessionPages({ clientUuid, offline, first: 0, max: 10_000 }))
        ids.push(...page.map(({ session }) => session.id));
      return ids;
    };
    const expected = (offline: boolean) =>
      living.filter((n) => isOldOffline(n) === offline).map(oldSessionId);
    for (const offline of [false, true]) {
      const ids = await listed(offline, CLIENTS[0]);
      assert.deepEqual(ids.toSorted(), expected(offline).toSorted());
      const places = { clientUuid: CLIENTS[0], offline };
      const parts = [0, 60, 120].map((first) => store.listClientSessions({ ...places, first, max: 60 }));
      const inParts = (await Promise.all(parts)).flat();
      assert.deepEqual(
        inParts.map(({ session }) => session.id),
        ids.slice(0, 180),
      );
    }
    const counts = new Map((await store.countClientSessions('realm-1')).map((one) => [one.clientUuid, one]));
    assert.deepEqual(counts.get(CLIENTS[0]), {
      clientUuid: CLIENTS[0],
      online: expected(false).length,
      offline: expected(true).length,
    });

    const ofUser = (i: number, offline = false) =>
      living.filter((n) => n % USERS.length === i && isOldOffline(n) === offline);
    assert.deepEqual(await store.endUserSessions('user-3', { offlineToo: true }), {
      ended: ofUser(3).length,
    });
    assert.equal((await store.listUserSessions('user-5', false)).length, ofUser(5).length);
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'user', id: 'user-7' }]), {
      outcome: 'applied',
    });
    assert.deepEqual(await store.apply([{ do: 'endSessions', userId: 'user-8', offlineToo: false }]), {
      outcome: 'applied',
    });
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'client', id: CLIENTS[1] }]), {
      outcome: 'applied',
    });
    for (const n of living) if ([3, 7, 8].includes(n % USERS.length)) gone.add(n);
    assert.equal(await find(7), undefined);
    assert.equal(await find(70, 'g'), undefined);

    assert.ok((await unmoved()) > 0);
    await moveAll(store);
    assert.equal(await unmoved(), 0);
    for (const n of numbers(count)) {
      const family = await find(n);
      assert.equal(family !== undefined, !gone.has(n), `session ${n}`);
      assert.equal(await find(n, 'g'), undefined);
      if (family === undefined || n === 1) continue;
      assert.deepEqual(await rotate(store, n, oldHash(n, 'newest'), `next ${n}`), { outcome: 'rotated' });
      if (n % 5 === 0) {
        const again = await rotate(store, n, oldHash(n, 'newest'), 'thief');
        assert.equal(again.outcome, 'reused');
      }
    }
    await store.close();
  });

  test(`${database}: the realm's logout also ends sessions that are not moved yet`, {
    skip: skip ?? false,
  }, async (t) => {
    const { open } = await make(t, 60);
    const store = await open();
    assert.ok(await store.findSession(oldSessionId(0), false));
    assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: 54 });
    await moveAll(store);
    for (const n of numbers(60))
      assert.equal(
        (await store.findSession(oldSessionId(n), isOldOffline(n))) !== undefined,
        isOldOffline(n),
      );
    await store.close();
  });
}
