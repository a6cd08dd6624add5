import assert from 'node:assert/strict';
import type { Store } from '../../../src/store/index.ts';
import {
  aClient,
  aCode,
  aConsent,
  aFamily,
  anAuthenticationSession,
  aRealm,
  aSession,
  aUser,
  hash,
  START,
} from './records.ts';
import { counted, many, type Rule } from './suite.ts';

/** Creates a realm with a user and two clients, and no session. */
export async function begin(store: Store): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) },
    { do: 'create', user: aUser({}) },
    { do: 'create', user: aUser({ id: 'user-2', username: 'bob' }) },
  ]);
  assert.deepEqual(applied, { outcome: 'applied' });
}

/** Finishes a login and stores its code. */
async function loggedIn(store: Store, code = aCode({})): Promise<void> {
  const login = { session: aSession({}), sessionMustExist: false, code };
  assert.equal(await store.finishLogin(login), 'finished');
}

export function loginRules(rule: Rule): void {
  rule(
    'replaces an authentication session only if it still has the revision that was read',
    async (store, _, other) => {
      await begin(store);
      const first = anAuthenticationSession({});
      const stored = await many(50, [store, other], (one) => one.putAuthenticationSession(first));
      assert.equal(counted(stored, 'stored'), 1);
      assert.deepEqual(await store.findAuthenticationSession('tab-1'), { ...first, revision: 1 });
      const steps = await many(50, [store, other], (one, i) =>
        one.putAuthenticationSession({ ...first, revision: 1, formCode: `form ${i}`, userId: 'user-1' }),
      );
      assert.equal(counted(steps, 'stored'), 1);
      assert.equal(counted(steps, 'changed'), 49);
      const next = (await store.findAuthenticationSession('tab-1'))!;
      assert.equal(next.revision, 2);
      assert.equal(next.userId, 'user-1');
      assert.equal(next.formCode, `form ${steps.indexOf('stored')}`);
      assert.deepEqual(await store.removeAuthenticationSession('tab-1'), { removed: true });
      assert.deepEqual(await store.removeAuthenticationSession('tab-1'), { removed: false });
      assert.equal(await store.putAuthenticationSession(next), 'changed');
      assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    },
  );

  rule('an authentication session is expired from its expiry time on', async (store, set) => {
    await begin(store);
    await store.putAuthenticationSession(anAuthenticationSession({}));
    set(START + 1799);
    const session = (await store.findAuthenticationSession('tab-1'))!;
    set(START + 1800);
    assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    assert.equal(await store.putAuthenticationSession(session), 'changed');
    const late = {
      authenticationSession: { id: 'tab-1', revision: 1 },
      session: aSession({}),
      sessionMustExist: false,
    };
    assert.equal(await store.finishLogin(late), 'gone');
  });

  rule('removing a client or a user also removes their authentication sessions', async (store) => {
    await begin(store);
    await store.putAuthenticationSession(anAuthenticationSession({ userId: 'user-1' }));
    await store.putAuthenticationSession(anAuthenticationSession({ id: 'tab-2', clientUuid: 'client-2' }));
    await store.apply([
      { do: 'remove', what: 'user', id: 'user-1' },
      { do: 'remove', what: 'client', id: 'client-2' },
    ]);
    assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    assert.equal(await store.findAuthenticationSession('tab-2'), undefined);
    const orphans = [{ clientUuid: 'client-2' }, { userId: 'user-1' }];
    for (const orphan of orphans)
      assert.equal(await store.putAuthenticationSession(anAuthenticationSession(orphan)), 'changed');
  });

  rule(
    '"If parallel finishLogin calls finish the same authentication session, exactly one returns finished"',
    async (store, _, other) => {
      await begin(store);
      await store.putAuthenticationSession(anAuthenticationSession({}));
      const outcomes = await many(100, [store, other], async (one, i) => {
        const outcome = await one.finishLogin({
          authenticationSession: { id: 'tab-1', revision: 1 },
          session: aSession({ id: `session ${i}` }),
          sessionMustExist: false,
          consent: aConsent({}),
          code: aCode({ hash: hash(`code ${i}`), sessionId: `session ${i}` }),
        });
        const [session, consent] = await Promise.all([
          store.findSession(`session ${i}`, false),
          store.findConsent('user-1', 'client-1'),
        ]);
        const taken = await store.takeCode(hash(`code ${i}`), START);
        assert.equal(session !== undefined, outcome === 'finished');
        assert.equal(taken.outcome, outcome === 'finished' ? 'taken' : 'gone');
        if (outcome === 'finished') assert.deepEqual(consent, aConsent({}));
        return outcome;
      });
      assert.equal(counted(outcomes, 'finished'), 1);
      assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    },
  );

  rule('finishLogin writes nothing if a record that it depends on was removed', async (store) => {
    await begin(store);
    await store.putAuthenticationSession(anAuthenticationSession({}));
    const login = {
      authenticationSession: { id: 'tab-1', revision: 1 },
      session: aSession({}),
      sessionMustExist: false,
      consent: aConsent({}),
      code: aCode({}),
    };
    const refused = [
      { ...login, authenticationSession: { id: 'tab-1', revision: 2 } },
      { ...login, authenticationSession: { id: 'tab-9', revision: 1 } },
      { ...login, session: aSession({ userId: 'nobody' }) },
      { ...login, code: aCode({ clientUuid: 'none' }) },
      { ...login, consent: aConsent({ clientUuid: 'none' }) },
      { ...login, sessionMustExist: true },
    ];
    for (const one of refused) assert.equal(await store.finishLogin(one), 'gone');
    assert.equal(await store.findSession('session-1', false), undefined);
    assert.equal(await store.findConsent('user-1', 'client-1'), undefined);
    assert.ok(await store.findAuthenticationSession('tab-1'));
    assert.equal(await store.finishLogin(login), 'finished');
    const other = { session: aSession({ userId: 'user-2' }), sessionMustExist: false };
    assert.equal(await store.finishLogin(other), 'gone');
    assert.equal((await store.findSession('session-1', false))!.userId, 'user-1');
  });

  rule(
    'a second login continues the session, and replaces its notes if the user authenticated again',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      const later = aSession({
        lastAccessAt: START + 100,
        startedAt: START + 100,
        notes: { auth_time: String(START + 100), acr: '1' },
      });
      const again = { session: later, sessionMustExist: true };
      assert.equal(await store.finishLogin(again), 'finished');
      const session = await store.findSession('session-1', false);
      assert.deepEqual(session, { ...later, startedAt: START });
      const older = aSession({ lastAccessAt: START + 90, notes: { auth_time: String(START) } });
      assert.equal(await store.finishLogin({ session: older, sessionMustExist: true }), 'finished');
      assert.deepEqual(await store.findSession('session-1', false), session);
    },
  );

  rule(
    '"If parallel takeCode and startFamily calls present the same code, exactly one returns taken or started"',
    async (store, _, other) => {
      await begin(store);
      for (let round = 0; round < 20; round++) {
        const text = `code ${round}`;
        await loggedIn(store, aCode({ hash: hash(text), familyId: `family ${round}` }));
        const code = { hash: hash(text), now: START + 1 };
        const start = (one: Store, number: number) =>
          one.startFamily(code, aFamily({ id: `family ${round} ${number}`, clientUuid: 'client-1' }));
        const answers = await many(20, [store, other], async (one, number) =>
          number % 4 < 2 === (round % 2 === 0)
            ? await start(one, number)
            : (await one.takeCode(hash(text), START + 1)).outcome,
        );
        assert.equal(counted(answers, 'started') + counted(answers, 'taken'), 1);
        assert.equal(counted(answers, 'used'), 19);
        // The second call ended any token family that the first call started.
        assert.equal(await store.hasFamily('session-1', false, 'client-1'), false);
      }
    },
  );

  rule(
    'only one takeCode call gets the code, and all others report that it was used',
    async (store, _, other) => {
      await begin(store);
      await loggedIn(store);
      const answers = await many(200, [store, other], (one) => one.takeCode(hash('code'), START + 1));
      const outcomes = answers.map(({ outcome }) => outcome);
      assert.equal(counted(outcomes, 'taken'), 1);
      assert.equal(counted(outcomes, 'used'), 199);
      const taken = answers.find(({ outcome }) => outcome === 'taken');
      assert.deepEqual(taken, { outcome: 'taken', code: aCode({}) });
    },
  );

  rule(
    'findCode does not use the code, and does not find a code that was used or has expired',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      assert.deepEqual(await store.findCode(hash('code'), START + 59), aCode({}));
      assert.equal(await store.findCode(hash('code'), START + 60), undefined);
      assert.equal(await store.findCode(hash('another'), START), undefined);
      assert.equal((await store.takeCode(hash('code'), START + 59)).outcome, 'taken');
      assert.equal(await store.findCode(hash('code'), START), undefined);
    },
  );

  rule('takeCode does not return a code that has expired or never existed', async (store) => {
    await begin(store);
    await loggedIn(store);
    assert.deepEqual(await store.takeCode(hash('another'), START), { outcome: 'gone' });
    assert.deepEqual(await store.takeCode(hash('code'), START + 60), { outcome: 'gone' });
    assert.equal((await store.takeCode(hash('code'), START + 59)).outcome, 'taken');
  });

  rule(
    '"Presenting a code again ends everything that its client has in the session, including what the first call received"',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      const offline = aSession({ offline: true });
      const code = { hash: hash('code'), now: START };
      assert.equal(await store.startFamily(code, aFamily({})), 'started');
      const others = [aFamily({ id: 'tab' }), aFamily({ id: 'other', clientUuid: 'client-2' })];
      for (const family of others) assert.equal(await store.startFamily(undefined, family), 'started');
      const kept = aFamily({ id: 'kept', offline: true });
      assert.equal(await store.startFamily(undefined, kept, offline), 'started');
      const second = await store.takeCode(hash('code'), START + 30);
      assert.equal(second.outcome, 'used');
      assert.equal(second.outcome === 'used' && second.code.sessionId, 'session-1');
      for (const id of ['family-1', 'tab', 'kept']) {
        assert.equal(await store.findFamily('session-1', id), undefined, id);
        assert.equal(await store.wasDetached(id), true, id);
      }
      assert.equal(await store.hasFamily('session-1', false, 'client-1'), false);
      assert.ok(await store.findFamily('session-1', 'other'));
      assert.equal(await store.wasDetached('other'), false);
      assert.ok(await store.findSession('session-1', false));
      assert.equal(await store.findSession('session-1', true), undefined);
    },
  );

  rule('startFamily fails if the session has ended or the client was removed', async (store) => {
    await begin(store);
    await loggedIn(store);
    const code = (text: string) => ({ hash: hash(text), now: START });
    await store.endSession('session-1', false);
    assert.equal(await store.startFamily(code('code'), aFamily({})), 'gone');
    const offline = aSession({ offline: true });
    assert.equal(await store.startFamily(undefined, aFamily({ offline: true }), offline), 'gone');
    assert.equal(await store.findSession('session-1', true), undefined);
    await loggedIn(store, aCode({ hash: hash('other') }));
    assert.equal(await store.startFamily({ hash: hash('other'), now: START + 60 }, aFamily({})), 'gone');
    await store.apply([{ do: 'remove', what: 'client', id: 'client-1' }]);
    assert.equal(await store.startFamily(code('other'), aFamily({})), 'gone');
    assert.equal(await store.startFamily(undefined, aFamily({})), 'gone');
  });

  rule(
    'a session without token families continues, and is listed, counted and ended like any other',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      const [listed] = await store.listUserSessions('user-1', false);
      assert.deepEqual(listed, { session: aSession({}), username: 'alice', clientUuids: [] });
      assert.deepEqual(await store.countClientSessions('realm-1'), []);
      assert.equal((await store.figures()).userSessions, 1);
      await store.startFamily(undefined, aFamily({}));
      await store.removeFamily('session-1', 'family-1');
      await store.sweep(START + 1700, 100);
      assert.ok(await store.findSession('session-1', false));
      await store.sweep(START + 7200, 100);
      assert.equal(await store.findSession('session-1', false), undefined);
    },
  );

  rule(
    'an access token is valid only if its token family had started when the token was issued',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      await store.startFamily(undefined, aFamily({ startedAt: START + 10 }));
      assert.equal(await store.hasFamily('session-1', false, 'client-1', START + 9), false);
      assert.equal(await store.hasFamily('session-1', false, 'client-1', START + 10), true);
      await store.startFamily(undefined, aFamily({ id: 'two', startedAt: START + 20, notes: { acr: '2' } }));
      const notes = (by: number) => store.findClientNotes('session-1', false, 'client-1', by);
      assert.deepEqual(await notes(START + 9), {});
      assert.deepEqual(await notes(START + 19), { nonce: 'n' });
      assert.deepEqual(await notes(START + 20), { acr: '2' });
    },
  );

  rule('"Ending all sessions of a user also ends unfinished logins and unexchanged codes"', async (store) => {
    await begin(store);
    const open = async () => {
      for (const id of ['tab-1', 'tab-2'])
        await store.putAuthenticationSession(anAuthenticationSession({ id, userId: 'user-1' }));
      await store.putAuthenticationSession(anAuthenticationSession({ id: 'tab-3', userId: 'user-2' }));
      await loggedIn(store);
    };
    await open();
    await store.endUserSessions('user-1', { offlineToo: false });
    assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    assert.deepEqual(await store.takeCode(hash('code'), START), { outcome: 'gone' });
    await open();
    await store.apply([{ do: 'endSessions', userId: 'user-1', offlineToo: true }]);
    assert.equal(await store.findAuthenticationSession('tab-1'), undefined);
    assert.equal(await store.findAuthenticationSession('tab-2'), undefined);
    assert.ok(await store.findAuthenticationSession('tab-3'));
    assert.deepEqual(await store.takeCode(hash('code'), START), { outcome: 'gone' });
  });

  rule('a new consent to the same client keeps the date of the first consent', async (store) => {
    await begin(store);
    await store.apply([{ do: 'putConsent', consent: aConsent({ createdDate: 5, lastUpdatedDate: 5 }) }]);
    const next = aConsent({ scopeIds: ['scope-1', 'scope-2'], createdDate: 9, lastUpdatedDate: 9 });
    const login = { session: aSession({}), sessionMustExist: false, consent: next };
    assert.equal(await store.finishLogin(login), 'finished');
    const merged = { ...next, createdDate: 5 };
    assert.deepEqual(await store.findConsent('user-1', 'client-1'), merged);
    const older = aConsent({ clientUuid: 'client-2', createdDate: 1 });
    await store.apply([{ do: 'putConsent', consent: older }]);
    assert.deepEqual(await store.listConsents('user-1'), [older, merged]);
    assert.deepEqual(await store.listConsents('user-2'), []);
    const orphan = aConsent({ clientUuid: 'none' });
    assert.deepEqual(await store.apply([{ do: 'putConsent', consent: orphan }]), {
      outcome: 'missing',
      what: 'client',
      id: 'none',
    });
    await store.apply([{ do: 'remove', what: 'client', id: 'client-2' }]);
    assert.deepEqual(await store.listConsents('user-1'), [merged]);
  });

  rule(
    '"Removes the consent and, with it, all token families of the client for this user, including offline ones"',
    async (store) => {
      await begin(store);
      await loggedIn(store);
      const families = async () => {
        await store.startFamily(undefined, aFamily({}));
        await store.startFamily(undefined, aFamily({ id: 'other', clientUuid: 'client-2' }));
        await store.startFamily(
          undefined,
          aFamily({ id: 'offline', offline: true }),
          aSession({ offline: true }),
        );
      };
      await families();
      assert.deepEqual(await store.removeConsent('user-1', 'client-1'), { removed: true });
      assert.equal(await store.findFamily('session-1', 'offline'), undefined);
      assert.equal(await store.findSession('session-1', true), undefined);
      assert.ok(await store.findFamily('session-1', 'family-1'));
      assert.deepEqual(await store.removeConsent('user-1', 'client-1'), { removed: false });
      await store.removeFamily('session-1', 'family-1');
      await store.removeFamily('session-1', 'other');
      await families();
      await store.apply([{ do: 'putConsent', consent: aConsent({}) }]);
      assert.deepEqual(await store.removeConsent('user-1', 'client-1'), { removed: true });
      assert.equal(await store.findConsent('user-1', 'client-1'), undefined);
      assert.equal(await store.findFamily('session-1', 'family-1'), undefined);
      assert.ok(await store.findFamily('session-1', 'other'));
      assert.ok(await store.findSession('session-1', false));
    },
  );

  rule('sweeps expired logins and codes, and remembers used codes for an hour', async (store, set) => {
    await begin(store);
    await store.putAuthenticationSession(anAuthenticationSession({}));
    await store.putAuthenticationSession(anAuthenticationSession({ id: 'tab-2' }));
    await loggedIn(store);
    await store.takeCode(hash('code'), START);
    assert.deepEqual(await store.sweep(START + 1799, 100), { removed: 0, handled: 0, more: false });
    set(START + 1800);
    assert.deepEqual(await store.sweep(START + 1800, 1), { removed: 1, handled: 1, more: true });
    assert.deepEqual(await store.sweep(START + 1800, 100), { removed: 1, handled: 1, more: false });
    await store.sweep(START + 3659, 100);
    assert.equal((await store.takeCode(hash('code'), START + 3659)).outcome, 'used');
    await store.sweep(START + 3660, 100);
    assert.deepEqual(await store.takeCode(hash('code'), START + 3660), { outcome: 'gone' });
  });
}
