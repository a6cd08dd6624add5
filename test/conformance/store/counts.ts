import assert from 'node:assert/strict';
import type { Change, Store } from '../../../src/store/index.ts';
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
import { begin, many, type Rule, rotation } from './suite.ts';

const REALMS = ['realm-1', 'realm-2'];
const CLIENTS = 3;
const USERS = 4;
/** Number of calls in each round, all of them in parallel. */
const CALLS = 60;
const ROUNDS = 3;
const DAY = 86_400;

/** Rules about the counts that the store keeps. */
export function countRules(rule: Rule): void {
  rule('"the counts equal the records after any writes"', async (store, setSeconds, other) => {
    const random = numbers(20_261_123);
    for (const realm of REALMS) await fillRealm(store, realm);
    for (let round = 1; round <= ROUNDS; round++) {
      const checking = checkAll(other, (seconds) => setSeconds(START + (2 * round - 1) * DAY + seconds));
      await many(CALLS, [store, other], (one) => someWrite(one, random, START));
      assert.deepEqual(await checking, [], 'a check finds no difference although records change meanwhile');
      for (const one of [store, other]) await compare(one);
      const drifts = await checkAll(store, (seconds) => setSeconds(START + 2 * round * DAY + seconds));
      assert.deepEqual(drifts, []);
    }
    for (const id of REALMS) await store.apply([{ do: 'remove', what: 'realm', id }]);
    const { users, userSessions, offlineSessions, tokenFamilies, openLogins } = await other.figures();
    assert.deepEqual([users, userSessions, offlineSessions, tokenFamilies, openLogins], [0, 0, 0, 0, 0]);
  });

  rule(
    'counts a session once for each client, however many token families it has',
    async (store, _, other) => {
      await begin(store);
      await many(20, [store, other], (one, i) =>
        one
          .startFamily(undefined, aFamily({ id: `more-${i}` }))
          .then((outcome) => assert.equal(outcome, 'started')),
      );
      assert.deepEqual(await store.countSessionsOfClient('client-1'), { online: 1, offline: 0 });
      assert.equal((await store.figures()).tokenFamilies, 21);
      await many(20, [store, other], (one, i) => one.removeFamily('session-1', `more-${i}`));
      assert.deepEqual(await other.countSessionsOfClient('client-1'), { online: 1, offline: 0 });
      await other.removeFamily('session-1', 'family-1');
      assert.deepEqual(await store.countSessionsOfClient('client-1'), { online: 0, offline: 0 });
      assert.deepEqual(await store.countClientSessions('realm-1'), []);
      assert.equal((await store.figures()).userSessions, 1, 'the user session continues');
    },
  );

  rule('counts nothing that is rolled back', async (store) => {
    await begin(store);
    const changes: Change[] = [
      ...Array.from({ length: 5 }, (_, i) => newUser('realm-1', `new-${i}`)),
      newUser('realm-1', 'user-1'),
    ];
    assert.equal((await store.apply(changes)).outcome, 'conflict');
    assert.equal(await store.countUsers({ realmId: 'realm-1' }), 1);
    assert.equal(await store.startFamily(undefined, aFamily({ id: 'x', sessionId: 'no' })), 'gone');
    assert.equal((await store.figures()).tokenFamilies, 1);
  });
}

/** Runs every check that is due at these times, and returns the differences. */
async function checkAll(store: Store, setSeconds: (seconds: number) => void): Promise<unknown[]> {
  setSeconds(DAY / 2);
  const drifts: unknown[] = [];
  const checks: string[] = [];
  for (let checked = await store.checkCounts(); checked !== undefined; checked = await store.checkCounts()) {
    checks.push(checked.check);
    drifts.push(...checked.drifts);
  }
  assert.deepEqual(checks, ['users', 'sessions', 'families', 'logins', 'actions']);
  return drifts;
}

/** Compares the counts with the lengths of the lists. */
async function compare(store: Store): Promise<void> {
  let [users, online, offline] = [0, 0, 0];
  for (const realmId of REALMS) {
    const listed = await store.listUsers({ realmId });
    users += listed.length;
    assert.equal(await store.countUsers({ realmId }), listed.length);
    const waiting = new Map<string, number>();
    for (const user of [...listed, ...(await serviceAccounts(store))])
      if (user.enabled && user.realmId === realmId)
        for (const action of user.requiredActions) waiting.set(action, (waiting.get(action) ?? 0) + 1);
    const actions = await store.countRequiredActions(realmId);
    assert.deepEqual([...actions].toSorted(), [...waiting].toSorted());
    for (const user of [...listed, ...(await serviceAccounts(store))]) {
      if (user.realmId !== realmId) continue;
      online += (await store.listUserSessions(user.id, false)).length;
      offline += (await store.listUserSessions(user.id, true)).length;
    }
    const counts = new Map((await store.countClientSessions(realmId)).map((one) => [one.clientUuid, one]));
    for (const { id } of await store.listClients({ realmId })) {
      const list = async (isOffline: boolean) =>
        (await store.listClientSessions({ clientUuid: id, offline: isOffline, first: 0, max: 10_000 }))
          .length;
      const expected = { online: await list(false), offline: await list(true) };
      assert.deepEqual(await store.countSessionsOfClient(id), expected);
      if (expected.online + expected.offline === 0) assert.equal(counts.get(id), undefined);
      else assert.deepEqual(counts.get(id), { clientUuid: id, ...expected });
    }
  }
  const figures = await store.figures();
  assert.deepEqual([figures.users, figures.userSessions, figures.offlineSessions], [users, online, offline]);
  assert.equal(figures.countDrift, 0);
}

async function serviceAccounts(store: Store) {
  const found = await Promise.all(
    REALMS.flatMap((realm) => [0, 1, 2].map((i) => store.findServiceAccount(`${realm} client-${i}`))),
  );
  return found.filter((user) => user !== undefined);
}

async function fillRealm(store: Store, realm: string): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({ id: realm, name: realm, defaultRoleId: `${realm} role` }) },
    ...Array.from({ length: CLIENTS }, (_, i) => newClient(realm, i)),
    ...Array.from({ length: USERS }, (_, i) => newUser(realm, `${realm} user-${i}`)),
  ]);
  assert.equal(applied.outcome, 'applied');
}

function newClient(realmId: string, number: number): Change {
  return {
    do: 'create',
    client: aClient({ id: `${realmId} client-${number}`, realmId, clientId: `app-${number}`, secrets: {} }),
  };
}

function newUser(realmId: string, id: string, serviceAccountClientUuid?: string): Change {
  const owner = serviceAccountClientUuid === undefined ? {} : { serviceAccountClientUuid };
  // The lengths of the ids differ, so some users have required actions and some have none.
  const requiredActions = [['UPDATE_PASSWORD'], ['UPDATE_PROFILE', 'VERIFY_EMAIL'], []][id.length % 3]!;
  const attributes = {
    requiredActions: ['not an action'],
    nul: ['\0', '\\u0000'],
    halves: ['\ud800', '\\ud8'],
  };
  return { do: 'create', user: aUser({ id, realmId, username: id, requiredActions, attributes, ...owner }) };
}

/** Runs one random write. Many of them fail or find nothing, because others have removed the record. */
async function someWrite(store: Store, random: (below: number) => number, now: number): Promise<void> {
  const realmId = REALMS[random(REALMS.length)]!;
  const clientUuid = `${realmId} client-${random(CLIENTS)}`;
  const userId = `${realmId} user-${random(USERS)}`;
  const sessionId = `${userId} session-${random(3)}`;
  const id = `family-${random(1_000_000)}`;
  const place = { realmId, userId, sessionId, clientUuid };
  const offline = random(3) === 0;
  const session = aSession({ id: sessionId, realmId, userId, startedAt: now - random(80_000), offline });
  const family = aFamily({ ...place, id, offline });
  const code = aCode({ ...place, hash: hash(id), familyId: id, issuedAt: now, expiresAt: now + 60 });
  const tab = anAuthenticationSession({ id: `${clientUuid} ${random(20)}`, realmId, clientUuid });
  const login = { session: { ...session, offline: false }, sessionMustExist: false, code };
  const writes: readonly (() => Promise<unknown>)[] = [
    () => store.startSession(session, family).catch(absentRecord),
    () => store.startSession(session, family).catch(absentRecord),
    () => store.startFamily(undefined, { ...family, offline: false }),
    () => store.startFamily(undefined, { ...family, offline: true }, { ...session, offline: true }),
    () => store.finishLogin(login),
    async () => {
      await store.finishLogin(login);
      const used = { hash: code.hash, now };
      await Promise.all([1, 2].map(() => store.startFamily(used, { ...family, offline: false })));
    },
    async () => {
      await store.finishLogin({ ...login, consent: aConsent({ userId, clientUuid, scopeIds: [] }) });
      await store.removeConsent(userId, clientUuid);
    },
    async () => {
      await store.startSession(session, family).catch(absentRecord);
      await store.rotateRefreshToken(
        rotation({ sessionId, familyId: id, presentedHash: hash('never issued') }),
      );
    },
    async () => {
      await store.startSession(session, family).catch(absentRecord);
      await store.removeFamily(sessionId, id);
    },
    () => store.endSession(sessionId, offline),
    () => store.endUserSessions(userId, { offlineToo: offline }),
    () => (random(4) === 0 ? store.endRealmSessions(realmId) : Promise.resolve()),
    () => store.sweep(now + random(40_000), 100),
    () => store.putAuthenticationSession(tab),
    () => store.removeAuthenticationSession(tab.id),
    () => store.boundAuthenticationSessions(realmId, 5),
    () => store.apply([{ do: 'remove', what: 'user', id: userId }]),
    () => store.apply([newUser(realmId, userId)]),
    async () => {
      const user = await store.findUser(realmId, userId);
      const requiredActions = [['CONFIGURE_TOTP'], []][random(2)]!;
      if (user !== undefined)
        await store.apply([{ do: 'put', user: { ...user, enabled: random(2) === 0, requiredActions } }]);
    },
    () => store.apply([{ do: 'remove', what: 'client', id: clientUuid }]),
    () => store.apply([newClient(realmId, Number(clientUuid.at(-1)))]),
    () => store.apply([newUser(realmId, `robot of ${clientUuid}`, clientUuid)]),
    () => store.apply(Array.from({ length: 20 }, () => newUser(realmId, `imported ${random(1_000_000)}`))),
    () => store.apply([newUser(realmId, `lonely ${id}`), { do: 'remove', what: 'user', id: 'no such user' }]),
  ];
  await writes[random(writes.length)]!();
}

/** Ignores the error of a session whose user or realm does not exist. */
function absentRecord(error: unknown): void {
  assert.match(String((error as Error).message), /foreign key/i);
}

/** Returns a generator of the same numbers in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
