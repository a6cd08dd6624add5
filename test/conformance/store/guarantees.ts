import assert from 'node:assert/strict';
import { applyAsRead } from '../../store/as-read.ts';
import { aFamily, aRole, aSession, aUser, hash, START } from './records.ts';
import { begin, many, type Rule, rotation } from './suite.ts';

export function guaranteesRules(rule: Rule): void {
  rule('"apply is atomic: it applies the whole list or nothing"', async (store) => {
    await begin(store);
    const refused = await store.apply([
      { do: 'create', user: aUser({ id: 'user-9', username: 'new' }) },
      { do: 'remove', what: 'client', id: 'client-1' },
      { do: 'create', user: aUser({ id: 'user-10', username: 'alice' }) },
    ]);
    assert.deepEqual(refused, { outcome: 'conflict', on: 'user.username', value: 'alice' });
    assert.equal(await store.findUser('realm-1', 'user-9'), undefined);
    assert.ok(await store.findClientByUuid('realm-1', 'client-1'));
    const missing = await store.apply([
      { do: 'create', role: aRole({ id: 'role-9', name: 'new' }) },
      { do: 'put', user: aUser({ id: 'nobody', username: 'nobody' }) },
    ]);
    assert.deepEqual(missing, { outcome: 'missing', what: 'user', id: 'nobody' });
    assert.equal((await store.findRealm('acme'))!.roles.has('role-9'), false);
  });

  rule(
    '"If parallel rotateRefreshToken calls present the same token with maxReuse 0, exactly one returns rotated"',
    async (store, _, other) => {
      await begin(store);
      const answers = await many(200, [store, other], (one, i) =>
        one.rotateRefreshToken(rotation({ nextHash: hash(`next ${i}`) })),
      );
      const outcomes = answers.map(({ outcome }) => outcome);
      assert.equal(outcomes.filter((outcome) => outcome === 'rotated').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'reused').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'gone').length, 198);
    },
  );

  rule('"A rotation that detects reuse ends the user session before it returns"', async (store) => {
    await begin(store);
    await store.startSession(aSession({}), aFamily({ id: 'family-2' }));
    assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
    const again = await store.rotateRefreshToken(rotation({ nextHash: hash('third') }));
    assert.deepEqual(again, { outcome: 'reused', reason: 'exceeded', clientUuids: ['client-1'] });
    assert.equal(await store.findSession('session-1', false), undefined);
    assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
    assert.equal(await store.findFamily('session-1', 'family-2'), undefined);
    assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'gone' });
  });

  rule('reports the reuse of an older refresh token as stale', async (store) => {
    await begin(store);
    await store.rotateRefreshToken(rotation({}));
    await store.rotateRefreshToken(rotation({ presentedHash: hash('second'), nextHash: hash('third') }));
    const stale = await store.rotateRefreshToken(rotation({}));
    assert.deepEqual(stale, { outcome: 'reused', reason: 'stale', clientUuids: ['client-1'] });
  });

  rule(
    'accepts a refresh token again as often as maxReuse allows, and then reports its reuse',
    async (store) => {
      await begin(store);
      for (let use = 0; use < 3; use++) {
        const answer = await store.rotateRefreshToken(
          rotation({ nextHash: hash(`use ${use}`), maxReuse: 2 }),
        );
        assert.equal(answer.outcome, 'rotated');
      }
      const fourth = await store.rotateRefreshToken(rotation({ nextHash: hash('use 3'), maxReuse: 2 }));
      assert.deepEqual(fourth, { outcome: 'reused', reason: 'exceeded', clientUuids: ['client-1'] });
    },
  );

  rule('accepts any token of an active token family if rotation is disabled', async (store) => {
    await begin(store);
    for (const presented of ['first', 'first', 'anything'])
      assert.deepEqual(
        await store.rotateRefreshToken(
          rotation({ presentedHash: hash(presented), nextHash: hash('next'), singleUse: false }),
        ),
        { outcome: 'rotated' },
      );
    assert.deepEqual((await store.findFamily('session-1', 'family-1'))!.family.currentHash, hash('next'));
    const gone = await store.rotateRefreshToken(rotation({ familyId: 'nowhere', singleUse: false }));
    assert.deepEqual(gone, { outcome: 'gone' });
  });

  rule(
    '"claimOnce returns true to exactly one caller per key until the claim expires"',
    async (store, set, other) => {
      const claims = await many(50, [store, other], (one) => one.claimOnce('jti', START + 60));
      assert.equal(claims.filter(Boolean).length, 1);
      set(START + 59);
      assert.equal(await store.claimOnce('jti', START + 120), false);
      set(START + 60);
      assert.equal(await store.claimOnce('jti', START + 120), true);
      assert.equal(await store.claimOnce('other', START + 120), true);
      assert.equal(await other.isClaimed('other'), true);
      assert.equal(await other.isClaimed('never'), false);
      const long = Array.from({ length: 200 }, (_, i) => hash(`${i}`).toString('base64')).join('');
      assert.equal(await store.claimOnce(`${long}1`, START + 120), true);
      assert.equal(await other.claimOnce(`${long}1`, START + 120), false);
      assert.equal(await other.claimOnce(`${long}2`, START + 120), true);
      assert.equal(await store.isClaimed(`${long}2`), true);
      assert.equal(await store.isClaimed(`${long}3`), false);
    },
  );

  rule('"A read that starts after a write returned sees that write"', async (store) => {
    await begin(store);
    for (let i = 0; i < 50; i++) {
      await applyAsRead(store, [{ do: 'put', user: aUser({ firstName: `Name${i}` }) }]);
      assert.equal((await store.findUser('realm-1', 'user-1'))?.firstName, `Name${i}`);
      assert.equal(
        (await store.listUsers({ realmId: 'realm-1', username: 'alice' }))[0]?.firstName,
        `Name${i}`,
      );
    }
  });

  rule('"For absent records, find… returns undefined and list… an empty array"', async (store) => {
    assert.equal(await store.findRealm('none'), undefined);
    assert.equal(await store.findRealmById('none'), undefined);
    assert.equal(await store.findClient('none', 'none'), undefined);
    assert.equal(await store.findClientByUuid('none', 'none'), undefined);
    assert.equal(await store.findUser('none', 'none'), undefined);
    assert.equal(await store.findUserByUsername('none', 'none'), undefined);
    assert.equal(await store.findUserByEmail('none', 'none'), undefined);
    assert.equal(await store.findServiceAccount('none'), undefined);
    assert.equal(await store.findSession('none', false), undefined);
    assert.equal(await store.findFamily('session-1', 'none'), undefined);
    assert.equal(await store.findLoginFailures('none', 'none'), undefined);
    assert.deepEqual(await store.listRealmNames(), []);
    assert.deepEqual(await store.listClients({ realmId: 'none' }), []);
    assert.deepEqual(await store.listUsers({ realmId: 'none' }), []);
    assert.deepEqual(await store.listUsersWithRole('none', 0, 10), []);
    assert.deepEqual(await store.listGroupMembers('none', 0, 10), []);
    assert.deepEqual(await store.listCredentials('none'), []);
    assert.deepEqual(await store.listUserSessions('none', false), []);
    assert.deepEqual(await store.listEvents({ realmId: 'none', first: 0, max: 10 }), []);
    assert.deepEqual(await store.listAdminEvents({ realmId: 'none', first: 0, max: 10 }), []);
  });

  rule(
    '"Finishes running writes": calls that began before the close return and take effect',
    async (store, _, other) => {
      await begin(store);
      const writes = Array.from({ length: 30 }, (_, i) =>
        store.apply([{ do: 'create', role: aRole({ id: `late ${i}`, name: `late ${i}` }) }]),
      );
      const rotated = store.rotateRefreshToken(rotation({}));
      const closed = store.close();
      for (const answer of await Promise.all(writes)) assert.deepEqual(answer, { outcome: 'applied' });
      assert.deepEqual(await rotated, { outcome: 'rotated' });
      await closed;
      if (other === store) return;
      assert.equal(
        (await other.findFamily('session-1', 'family-1'))?.family.currentHash.equals(hash('second')),
        true,
      );
    },
  );

  rule('can be closed twice, and rejects later calls', async (store) => {
    await begin(store);
    await Promise.all([store.close(), store.close()]);
    await assert.rejects(store.findRealm('acme'), { code: 'IDKIT_FAILED' });
    await assert.rejects(store.apply([]), { code: 'IDKIT_FAILED' });
  });
}
