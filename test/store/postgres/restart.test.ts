import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IdkitError } from '../../../src/core/index.ts';
import type { Store } from '../../../src/store/index.ts';
import {
  aClient,
  aCode,
  aFamily,
  aRealm,
  aSession,
  aUser,
  hash,
  START,
} from '../../conformance/store/records.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';
import { wayTo } from '../way-to.ts';

const skip = missingPostgres() ?? false;

const FAMILIES = 24;

/** Number of completed refreshes of each token family. */
type Answered = number[];

/** The tokens of a token family. */
interface Tokens {
  /** The token that the store returned last. */
  current: string;
  /** The predecessor of `current`. */
  parent: string;
  /** The new token in the last call, which may have failed. */
  tried: string;
}
const newTokens = (): Tokens[] =>
  Array.from({ length: FAMILIES }, (_, i) => ({ current: `${i} 0`, parent: 'none', tried: `${i} 0` }));

async function begin(store: Store): Promise<void> {
  await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', user: aUser({}) },
  ]);
  for (let i = 0; i < FAMILIES; i++)
    await store.startSession(
      aSession({ id: `session-${i}` }),
      aFamily({ id: `family-${i}`, sessionId: `session-${i}`, currentHash: hash(`${i} 0`) }),
    );
}

/**
 * Refreshes every token family, alternating between the stores, until `isOver` returns true. Retries a refresh that
 * returned no result.
 */
async function refresh(
  stores: readonly Store[],
  answered: Answered,
  tokens: Tokens[],
  faults: unknown[],
  isOver: () => boolean,
): Promise<void> {
  await Promise.all(
    Array.from({ length: FAMILIES }, async (_, i) => {
      for (let turn = i; !isOver(); turn++) {
        const token = tokens[i]!;
        // Every attempt creates its own token, as the service does.
        token.tried = `${i} at ${turn}`;
        try {
          const answer = await stores[turn % stores.length]!.rotateRefreshToken({
            sessionId: `session-${i}`,
            familyId: `family-${i}`,
            presentedHash: hash(token.current),
            nextHash: hash(token.tried),
            now: START + answered[i]!,
            singleUse: true,
            maxReuse: 0,
          });
          assert.deepEqual(answer, { outcome: 'rotated' });
          answered[i]!++;
          tokens[i] = { ...token, parent: token.current, current: token.tried };
        } catch (error) {
          if ((error as IdkitError).code !== 'IDKIT_UNREACHABLE') throw error;
          faults.push(error);
          await sleep(20);
        }
      }
    }),
  );
}

async function checkNothingLost(store: Store, tokens: readonly Tokens[]): Promise<void> {
  for (const [i, token] of tokens.entries()) {
    const stored = await store.findFamily(`session-${i}`, `family-${i}`);
    const current = stored?.family.currentHash;
    assert.ok(
      current?.equals(hash(token.current)) || current?.equals(hash(token.tried)),
      `family ${i} has the token that was returned last, or its successor that no caller received`,
    );
  }
  const again = await Promise.all(
    tokens.map((token, i) =>
      store.rotateRefreshToken({
        sessionId: `session-${i}`,
        familyId: `family-${i}`,
        presentedHash: hash(token.parent),
        nextHash: hash('another'),
        now: START,
        singleUse: true,
        maxReuse: 0,
      }),
    ),
  );
  for (const { outcome } of again) assert.equal(outcome, 'reused');
}

test('if the server is killed and restarted under refresh load, no confirmed rotation is lost and no token works twice', {
  skip,
}, async (t: TestContext) => {
  const server = await startPostgres({ after }, { settings: { fsync: 'on' } });
  const { url } = await makeDatabase(server);
  const stores = [await openOn(t, server, url), await openOn(t, server, url)];
  await begin(stores[0]!);
  const answered: Answered = new Array(FAMILIES).fill(0);
  const tokens = newTokens();
  const faults: unknown[] = [];
  let over = false;
  const running = refresh(stores, answered, tokens, faults, () => over);
  const untilAll = async (uses: number) => {
    const all = () => answered.every((use) => use >= uses);
    const seen = () => answered;
    await Promise.race([running, waitUntil(`each family is rotated ${uses} times`, all, { every: 5, seen })]);
  };
  for (let round = 1; round <= 3; round++) {
    await untilAll(round * 15);
    await server.stop('immediate');
    const before = [...answered];
    await server.start();
    const least = Math.max(...before) + 1;
    await untilAll(Math.min(least, round * 15 + 5));
  }
  // The server stays down longer than a store waits, so callers receive an error.
  await server.stop('immediate');
  await waitUntil('a caller is refused', () => faults.length > 0);
  await server.start();
  await untilAll(80);
  over = true;
  await running;
  await checkNothingLost(stores[1]!, tokens);
});

for (const maxReuse of [0, 1])
  test(`every store accepts a token again if the result of its rotation was lost (${maxReuse} reuses)`, {
    skip,
  }, async (t: TestContext) => {
    const server = await startPostgres({ after });
    const { url } = await makeDatabase(server);
    const elsewhere = await openOn(t, server, url);
    await begin(elsewhere);
    const way = await wayTo(t, server);
    const store = await openOn(t, server, url.replace(`:${server.port}/`, `:${way.port}/`));
    const rotate = (on: Store, family: number, presented: string, next: string) =>
      on.rotateRefreshToken({
        sessionId: `session-${family}`,
        familyId: `family-${family}`,
        presentedHash: hash(presented),
        nextHash: hash(next),
        now: START,
        singleUse: true,
        maxReuse,
      });
    const current = async (family: number) =>
      (await elsewhere.findFamily(`session-${family}`, `family-${family}`))!.family.currentHash;
    for (const family of [0, 1]) await rotate(store, family, `${family} 0`, `${family} 1`);
    way.cut();
    for (const family of [0, 1])
      await assert.rejects(rotate(store, family, `${family} 1`, `${family} lost`), {
        code: 'IDKIT_UNREACHABLE',
      });
    assert.deepEqual(await current(0), hash('0 lost'), 'the first took effect without a response');
    assert.deepEqual(await current(1), hash('1 1'), 'the second was not even sent');
    way.mend();
    assert.deepEqual(await rotate(store, 0, '0 1', '0 2'), { outcome: 'rotated' });
    assert.deepEqual(await current(0), hash('0 2'));

    way.cut();
    await assert.rejects(rotate(store, 1, '1 1', '1 lost'), { code: 'IDKIT_UNREACHABLE' });
    assert.deepEqual(await current(1), hash('1 lost'));
    way.mend();
    const undone = async () => !(await current(1)).equals(hash('1 lost'));
    await waitUntil('the rotation whose response was lost is undone', undone);
    assert.deepEqual(await rotate(elsewhere, 1, '1 1', '1 2'), { outcome: 'rotated' });
    if (maxReuse > 0) assert.deepEqual(await rotate(store, 1, '1 1', '1 3'), { outcome: 'rotated' });
    assert.equal((await rotate(store, 1, '1 1', '1 4')).outcome, 'reused', 'still good only once');
  });

test('does not undo a rotation whose result was lost, if the client repeated it at another store', {
  skip,
}, async (t: TestContext) => {
  const server = await startPostgres({ after });
  const { url } = await makeDatabase(server);
  const elsewhere = await openOn(t, server, url);
  await begin(elsewhere);
  const way = await wayTo(t, server);
  const store = await openOn(t, server, url.replace(`:${server.port}/`, `:${way.port}/`));
  const rotate = (on: Store, presented: string, next: string) =>
    on.rotateRefreshToken({
      sessionId: 'session-0',
      familyId: 'family-0',
      presentedHash: hash(presented),
      nextHash: hash(next),
      now: START,
      singleUse: true,
      maxReuse: 0,
      grace: { seconds: 30, successor: Buffer.from(next) },
    });
  await rotate(store, '0 0', '0 1');
  way.cut();
  await assert.rejects(rotate(store, '0 1', '0 lost'), { code: 'IDKIT_UNREACHABLE' });
  const successor = Buffer.from('0 lost');
  assert.deepEqual(await rotate(elsewhere, '0 1', '0 unused'), { outcome: 'repeated', successor });
  way.mend();
  assert.deepEqual(await rotate(store, '0 lost', '0 2'), { outcome: 'rotated' });
});

test('stores a login exactly once and reports success, even if the connection fails before the result arrives', {
  skip,
}, async (t: TestContext) => {
  const server = await startPostgres({ after });
  const { url, name } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  await begin(store);
  await store.apply([{ do: 'create', client: aClient({}) }]);
  const callers = Array.from({ length: 8 }, (_, caller) => caller);
  const atWork = new Set(callers);
  let unanswered = new Set<number>();
  const ending = (async () => {
    while (atWork.size > 0) {
      await runSql(
        server,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
      );
      // Wait until each call has completed before the connections are closed again. Otherwise no call would succeed if
      // connecting is slow.
      unanswered = new Set(atWork);
      await waitUntil('each call has completed', () => unanswered.size === 0, {
        every: 5,
        seen: () => [...unanswered],
      });
    }
  })();
  const logIn = async (id: string, answered: () => void): Promise<void> => {
    const login = { session: aSession({ id }), sessionMustExist: false };
    const code = { hash: hash(id), now: START };
    const finished = await store.finishLogin({
      ...login,
      code: aCode({ hash: code.hash, sessionId: id }),
    });
    assert.equal(finished, 'finished');
    answered();
    assert.equal(await store.startFamily(code, aFamily({ id, sessionId: id })), 'started');
    answered();
    assert.deepEqual(await store.endSession(id, true), { ended: false });
    answered();
  };
  await Promise.all(
    callers.map(async (caller) => {
      const answered = () => void unanswered.delete(caller);
      try {
        for (let round = 0; round < 15; round++) await logIn(`login ${caller} ${round}`, answered);
      } finally {
        atWork.delete(caller);
        answered();
      }
    }),
  );
  await ending;
  const [families] = await runSql(
    server,
    `SELECT count(*)::int AS n FROM token_family WHERE id LIKE 'login %'::bytea`,
    name,
  );
  assert.deepEqual(families, { n: 120 });
});

test('a call does not fail if the server closes its connection', { skip }, async (t: TestContext) => {
  const server = await startPostgres({ after });
  const { url, name } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  await begin(store);
  const answered: Answered = new Array(FAMILIES).fill(0);
  const tokens = newTokens();
  const faults: unknown[] = [];
  let over = false;
  const running = refresh([store], answered, tokens, faults, () => over);
  for (let round = 0; round < 8; round++) {
    const before = [...answered];
    const some = () => answered.some((use, i) => use >= before[i]! + 3);
    await Promise.race([running, waitUntil('a family is rotated three times', some, { every: 2 })]);
    await runSql(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await store.findSession('session-1', false);
  }
  over = true;
  await running;
  assert.deepEqual(faults, []);
  await checkNothingLost(store, tokens);
});

test('a store with several hosts uses the host that accepts writes, and looks for another host if that host fails', {
  skip,
}, async (t: TestContext) => {
  const [first, second] = [await startPostgres({ after }), await startPostgres({ after })];
  const takesWrites = async (server: PostgresServer, takes: boolean) => {
    await runSql(server, `ALTER SYSTEM SET default_transaction_read_only = ${takes ? 'off' : 'on'}`);
    await runSql(server, 'SELECT pg_reload_conf()');
    const wanted = takes ? 'off' : 'on';
    await waitUntil(`default_transaction_read_only is ${wanted}`, async () => {
      const [row] = await runSql(server, `SELECT current_setting('default_transaction_read_only') AS now`);
      return row!['now'] === wanted;
    });
  };
  for (const server of [first, second]) {
    await runSql(server, 'CREATE DATABASE idkit');
    const alone = await openOn(t, server, `postgres://postgres@127.0.0.1:${server.port}/idkit`);
    await alone.apply([{ do: 'create', realm: aRealm({ name: server === first ? 'first' : 'second' }) }]);
    await alone.close();
  }
  await takesWrites(first, false);
  const hosts = `127.0.0.1:${first.port},127.0.0.1:${second.port}`;
  const store = await openOn(t, second, `postgres://postgres@${hosts}/idkit?target_session_attrs=read-write`);
  assert.deepEqual(await store.listRealmNames(), ['second']);
  await takesWrites(first, true);
  assert.deepEqual(await store.listRealmNames(), ['second']);
  await second.stop('immediate');
  assert.deepEqual(await store.listRealmNames(), ['first']);
  await second.start();
  await takesWrites(first, false);
  await runSql(first, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'idkit'`);
  assert.deepEqual(await store.listRealmNames(), ['second']);
});
