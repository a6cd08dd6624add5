import assert from 'node:assert/strict';
import type { AdminEvent, UserEvent } from '../../../src/model/index.ts';
import { applyAsRead } from '../../store/as-read.ts';
import { aClient, aFamily, anAuthenticationSession, aRealm, aSession, aUser, START } from './records.ts';
import { begin, many, type Rule, rotation } from './suite.ts';

export function sessionsRules(rule: Rule): void {
  rule(
    "keeps the time of a session's last use across all its token families, even removed ones",
    async (store, set) => {
      await begin(store);
      await store.startSession(aSession({}), aFamily({ id: 'family-2', clientUuid: 'client-2' }));
      set(START + 500);
      await store.rotateRefreshToken(rotation({ familyId: 'family-2', now: START + 500 }));
      assert.equal((await store.findSession('session-1', false))!.lastAccessAt, START + 500);
      assert.equal((await store.findFamily('session-1', 'family-1'))!.session.lastAccessAt, START + 500);
      assert.equal((await store.findFamily('session-1', 'family-1'))!.family.lastRefreshAt, START);
      assert.equal(await store.hasFamily('session-1', false, 'client-2'), true);
      assert.deepEqual(await store.removeFamily('session-1', 'family-2'), { removed: true });
      assert.deepEqual(await store.removeFamily('session-1', 'family-2'), { removed: false });
      assert.equal(await store.hasFamily('session-1', false, 'client-2'), false);
      assert.equal((await store.findSession('session-1', false))!.lastAccessAt, START + 500);
      await store.rotateRefreshToken(rotation({ now: START + 501 }));
      await store.apply([{ do: 'remove', what: 'client', id: 'client-1' }]);
      assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
      assert.equal((await store.findSession('session-1', false))!.lastAccessAt, START + 501);
    },
  );

  rule(
    'ends one session, all sessions of a user or a realm, and sessions as part of a change',
    async (store) => {
      await begin(store);
      const start = async (id: string, offline: boolean) =>
        store.startSession(
          aSession({ id, offline }),
          aFamily({ id: `f-${id}-${offline}`, sessionId: id, offline }),
        );
      await start('session-1', true);
      await start('two', false);
      assert.deepEqual(await store.endSession('session-1', false), { ended: true });
      assert.deepEqual(await store.endSession('session-1', false), { ended: false });
      assert.ok(await store.findSession('session-1', true));
      assert.ok(await store.findFamily('session-1', 'f-session-1-true'));
      assert.deepEqual(await store.endUserSessions('user-1', { offlineToo: false }), { ended: 1 });
      await start('three', false);
      assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: 1 });
      assert.ok(await store.findSession('session-1', true));
      await start('four', false);
      await applyAsRead(store, [
        { do: 'put', user: aUser({ firstName: 'x' }) },
        { do: 'endSessions', userId: 'user-1', offlineToo: true },
      ]);
      assert.equal(await store.findSession('session-1', true), undefined);
      assert.equal(await store.findFamily('four', 'f-four-false'), undefined);
    },
  );

  rule('lists and counts sessions with their clients', async (store) => {
    await begin(store);
    await store.apply([{ do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) }]);
    await store.startSession(aSession({}), aFamily({ id: 'family-2', clientUuid: 'client-2' }));
    await store.startSession(
      aSession({ id: 'off', offline: true }),
      aFamily({ id: 'family-3', sessionId: 'off', offline: true }),
    );
    const [session, ...none] = await store.listUserSessions('user-1', false);
    assert.equal(none.length, 0);
    assert.equal(session!.username, 'alice');
    assert.deepEqual([...session!.clientUuids].sort(), ['client-1', 'client-2']);
    const ofClient = await store.listClientSessions({
      clientUuid: 'client-1',
      offline: true,
      first: 0,
      max: 10,
    });
    assert.deepEqual(
      ofClient.map((item) => item.session.id),
      ['off'],
    );
    const counts = [...(await store.countClientSessions('realm-1'))];
    assert.deepEqual(
      counts.sort((a, b) => a.clientUuid.localeCompare(b.clientUuid)),
      [
        { clientUuid: 'client-1', online: 1, offline: 1 },
        { clientUuid: 'client-2', online: 1, offline: 0 },
      ],
    );
    assert.deepEqual(await store.countSessionsOfClient('client-1'), { online: 1, offline: 1 });
    assert.deepEqual(await store.countSessionsOfClient('no'), { online: 0, offline: 0 });
    const figures = await store.figures();
    assert.ok(figures.countsCheckedAt !== undefined);
    assert.deepEqual(
      { ...figures, databaseBytes: 0, schemaVersion: 0 },
      {
        schemaVersion: 0,
        databaseBytes: 0,
        realms: 1,
        users: 1,
        userSessions: 1,
        offlineSessions: 1,
        tokenFamilies: 3,
        openLogins: 0,
        countDrift: 0,
        countsCheckedAt: figures.countsCheckedAt,
      },
    );
    assert.ok(figures.databaseBytes > 0 && figures.schemaVersion > 0);
  });

  rule('reports a revoked access token as revoked until it would have expired', async (store, set) => {
    await store.revokeAccessToken('jti', START + 60);
    await store.revokeAccessToken('jti', START + 30);
    assert.equal(await store.isAccessTokenRevoked('jti'), true);
    assert.equal(await store.isAccessTokenRevoked('other'), false);
    set(START + 60);
    assert.equal(await store.isAccessTokenRevoked('jti'), false);
  });

  rule(
    'replaces login failures only if they still have the revision that was read before',
    async (store, _, other) => {
      await begin(store);
      const failures = {
        realmId: 'realm-1',
        userId: 'user-1',
        revision: 0,
        failures: 1,
        temporaryLockouts: 0,
        lastFailureAt: 1,
        lockedUntil: 0,
        lastIpAddress: '192.0.2.1',
      };
      const answers = await many(20, [store, other], (one) => one.putLoginFailures(failures));
      assert.equal(answers.filter((answer) => answer === 'stored').length, 1);
      assert.deepEqual(await store.findLoginFailures('realm-1', 'user-1'), { ...failures, revision: 1 });
      assert.equal(await store.putLoginFailures({ ...failures, revision: 1, failures: 2 }), 'stored');
      assert.equal(await store.putLoginFailures({ ...failures, revision: 1, failures: 3 }), 'changed');
      await store.removeLoginFailures('realm-1', 'user-1');
      assert.equal(await store.findLoginFailures('realm-1', 'user-1'), undefined);
      await store.putLoginFailures(failures);
      await store.removeLoginFailures('realm-1');
      assert.equal(await store.findLoginFailures('realm-1', 'user-1'), undefined);
    },
  );

  rule('lists events with every filter, the newest first, and clears them', async (store) => {
    await begin(store);
    const event = (id: string, more: Partial<UserEvent>): UserEvent => ({
      id,
      time: START * 1000,
      type: 'LOGIN',
      realmId: 'realm-1',
      details: { username: 'alice' },
      ...more,
    });
    const events = [
      event('1', { clientId: 'app', userId: 'user-1', ipAddress: '192.0.2.1' }),
      event('2', { type: 'LOGOUT', time: START * 1000 + 1 }),
      event('3', { type: 'LOGIN_ERROR', error: 'invalid_user_credentials', time: START * 1000 + 2 }),
    ];
    await store.appendEvents(events);
    const ids = async (query: object) =>
      (await store.listEvents({ realmId: 'realm-1', first: 0, max: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await ids({}), ['3', '2', '1']);
    assert.deepEqual(await ids({ types: ['LOGIN', 'LOGOUT'] }), ['2', '1']);
    assert.deepEqual(await ids({ clientId: 'app', userId: 'user-1', ipAddress: '192.0.2.1' }), ['1']);
    assert.deepEqual(await ids({ from: START * 1000 + 1, to: START * 1000 + 1 }), ['2']);
    assert.deepEqual(await ids({ first: 1, max: 1 }), ['2']);
    assert.deepEqual((await store.listEvents({ realmId: 'realm-1', first: 2, max: 1 }))[0], events[0]);
    await store.clearEvents('realm-1');
    assert.deepEqual(await ids({}), []);
  });

  rule('lists admin events with every filter, and clears them', async (store) => {
    await begin(store);
    const adminEvent = (id: string, more: Partial<AdminEvent>): AdminEvent => ({
      id,
      time: START * 1000 + Number(id),
      realmId: 'realm-1',
      authRealmId: 'master',
      authClientId: 'admin-cli',
      authUserId: 'admin',
      authIpAddress: '192.0.2.9',
      operationType: 'CREATE',
      resourceType: 'USER',
      resourcePath: `users/${id}`,
      ...more,
    });
    await store.apply([
      { do: 'record', adminEvent: adminEvent('1', {}) },
      {
        do: 'record',
        adminEvent: adminEvent('2', {
          operationType: 'DELETE',
          resourceType: 'CLIENT',
          resourcePath: 'clients/x',
        }),
      },
    ]);
    const ids = async (query: object) =>
      (await store.listAdminEvents({ realmId: 'realm-1', first: 0, max: 10, ...query })).map(({ id }) => id);
    assert.deepEqual(await ids({}), ['2', '1']);
    assert.deepEqual(await ids({ operationTypes: ['CREATE'] }), ['1']);
    assert.deepEqual(await ids({ resourceTypes: ['CLIENT'] }), ['2']);
    assert.deepEqual(await ids({ resourcePath: 'users/*' }), ['1']);
    assert.deepEqual(await ids({ authRealmId: 'master', authUserId: 'admin' }), ['2', '1']);
    assert.deepEqual(await ids({ authClientId: 'x' }), []);
    await store.clearAdminEvents('realm-1');
    assert.deepEqual(await ids({}), []);
  });

  rule('removes expired records in batches, and keeps records that may still be used', async (store) => {
    await begin(store);
    await store.startSession(aSession({ id: 'busy' }), aFamily({ id: 'busy', sessionId: 'busy' }));
    await store.startSession(
      aSession({ id: 'off', offline: true }),
      aFamily({ id: 'off', sessionId: 'off', offline: true }),
    );
    await store.claimOnce('claim', START + 60);
    await store.revokeAccessToken('jti', START + 60);
    assert.deepEqual(await store.sweep(START + 59, 100), { removed: 0, handled: 0, more: false });
    await store.rotateRefreshToken(rotation({ sessionId: 'busy', familyId: 'busy', now: START + 7000 }));
    let { removed, handled } = await store.sweep(START + 7200, 1);
    assert.equal(handled, 1);
    for (let round = 0; round < 5; round++) removed += (await store.sweep(START + 7200, 100)).removed;
    assert.equal(removed, 3);
    assert.equal(await store.findSession('session-1', false), undefined);
    assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
    assert.ok(await store.findFamily('busy', 'busy'));
    await store.sweep(START + 86_400, 100);
    await store.sweep(START + 86_400, 100);
    assert.equal(await store.findFamily('busy', 'busy'), undefined);
    assert.ok(await store.findFamily('off', 'off'));
    await store.sweep(START + 2_592_000 + 7200, 100);
    await store.sweep(START + 2_592_000 + 7200, 100);
    assert.equal(await store.findFamily('off', 'off'), undefined);
  });

  rule(
    'a sweep handles each due session once, and its batch also counts sessions that continue',
    async (store) => {
      await begin(store);
      const later = START + 7200;
      for (let i = 0; i < 12; i++) {
        const id = `session of batch ${i}`;
        const lastAccessAt = i % 3 === 0 ? later - 60 : START;
        await store.startSession(
          aSession({ id, lastAccessAt }),
          aFamily({ id, sessionId: id, lastRefreshAt: lastAccessAt }),
        );
      }
      const batches = [];
      for (let round = 0; round < 4; round++) batches.push(await store.sweep(later, 5));
      assert.deepEqual(
        batches.map(({ handled }) => handled),
        [5, 5, 3, 0],
        'all that are due, and the session of the beginning, once each',
      );
      assert.equal(
        batches.reduce((sum, { removed }) => sum + removed, 0),
        9,
      );
      assert.ok(await store.findFamily('session of batch 3', 'session of batch 3'));
      assert.equal(await store.findFamily('session of batch 4', 'session of batch 4'), undefined);
    },
  );

  rule('a long backlog of sessions delays the removal of other records by no slice', async (store) => {
    await begin(store);
    const later = START + 7200;
    await store.sweep(later, 20);
    for (let i = 0; i < 30; i++)
      await store.startSession(
        aSession({ id: `backlog ${i}` }),
        aFamily({ id: `backlog ${i}`, sessionId: `backlog ${i}` }),
      );
    await store.putAuthenticationSession(anAuthenticationSession({}));
    await store.putAuthenticationSession(anAuthenticationSession({ id: 'tab-2' }));
    for (const name of ['a', 'b', 'c']) await store.claimOnce(name, START + 60);
    await store.revokeAccessToken('jti', START + 60);
    const kinds = async () =>
      Object.fromEntries(
        (await store.listDue(later)).slice(0, 5).map(({ kind, records }) => [kind, records]),
      );
    assert.deepEqual(await kinds(), { sessions: 30, logins: 2, codes: 0, claims: 3, revocations: 1 });
    assert.deepEqual(await store.sweep(later, 20), { removed: 20, handled: 20, more: true });
    assert.deepEqual(await kinds(), { sessions: 15, logins: 0, codes: 0, claims: 1, revocations: 0 });
    assert.deepEqual(await store.sweep(later, 20), { removed: 16, handled: 16, more: false });
    assert.deepEqual(await kinds(), { sessions: 0, logins: 0, codes: 0, claims: 0, revocations: 0 });
  });

  rule('a backlog of other records uses what the sessions leave of a slice', async (store) => {
    await begin(store);
    for (let i = 0; i < 30; i++) await store.claimOnce(`claim ${i}`, START + 60);
    assert.deepEqual(await store.sweep(START + 60, 20), { removed: 20, handled: 20, more: true });
    assert.deepEqual(await store.sweep(START + 60, 20), { removed: 10, handled: 10, more: false });
  });

  rule('never removes a session that a client with longer lifetimes may still use', async (store) => {
    await begin(store);
    const attributes = { 'client.session.idle.timeout': '90000', 'client.session.max.lifespan': '90000' };
    await applyAsRead(store, [{ do: 'put', client: aClient({ attributes }) }]);
    await store.sweep(START + 86_400, 100);
    assert.ok(await store.findFamily('session-1', 'family-1'));
    await store.sweep(START + 95_000, 100);
    assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
  });

  rule(
    'a sweep removes expired sessions although another realm has lifetimes of any length',
    async (store) => {
      await begin(store);
      const longest = Number.MAX_SAFE_INTEGER;
      const { settings } = aRealm({});
      const values = ['99999999999999999999', '9999999999999', '9999999999', '1e300', '5000000.5', 'no'];
      const attributes = values.map((value) => ({
        'client.session.idle.timeout': value,
        'client.session.max.lifespan': value,
      }));
      const realms = [
        {
          settings: { ...settings, ssoSessionIdleTimeout: longest, ssoSessionMaxLifespan: longest },
          attributes: {},
        },
        ...attributes.map((one) => ({ settings, attributes: one })),
      ];
      for (const [i, { settings, attributes }] of realms.entries()) {
        const of = { realmId: `r${i}`, userId: `u${i}` };
        await store.apply([
          { do: 'create', realm: aRealm({ id: `r${i}`, name: `r${i}`, settings }) },
          { do: 'create', client: aClient({ id: `c${i}`, realmId: `r${i}`, secrets: {}, attributes }) },
          { do: 'create', user: aUser({ id: `u${i}`, realmId: `r${i}` }) },
        ]);
        await store.startSession(
          aSession({ ...of, id: `s${i}` }),
          aFamily({ ...of, id: `f${i}`, sessionId: `s${i}`, clientUuid: `c${i}` }),
        );
      }
      const later = START + 4_000_000;
      while ((await store.sweep(later, 100)).more);
      assert.equal(await store.findSession('session-1', false), undefined);
      const left = await Promise.all(realms.map((_, i) => store.findSession(`s${i}`, false)));
      assert.deepEqual(
        left.map((session) => session !== undefined),
        [true, false, false, true, false, false, false],
        'the protocol ignores numbers of more than ten digits',
      );
      assert.equal((await store.listDue(later))[0]!.records, 0);
    },
  );

  rule('removes events that are older than their realm allows', async (store) => {
    await begin(store);
    const { settings } = aRealm({});
    await applyAsRead(store, [
      { do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) },
    ]);
    await store.appendEvents(
      ['1', '2'].map((id, i) => ({
        id,
        time: (START + i * 60) * 1000,
        type: 'LOGIN',
        realmId: 'realm-1',
        details: {},
      })),
    );
    await store.sweepEvents(START + 61, 100);
    const left = await store.listEvents({ realmId: 'realm-1', first: 0, max: 10 });
    assert.deepEqual(
      left.map(({ id }) => id),
      ['2'],
    );
  });
}
