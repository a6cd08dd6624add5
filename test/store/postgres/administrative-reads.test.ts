import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { forCaller, IdkitError } from '../../../src/core/index.ts';
import { connectionsTo } from '../../../src/postgres/driver.ts';
import type { Store } from '../../../src/store/index.ts';
import { begin, rotation } from '../../conformance/store/suite.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';

// Checks that slow lists and searches of administrators do not delay other calls.

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const onPostgres = (title: string, run: (t: TestContext, server: PostgresServer) => Promise<void>): void => {
  test(title, { skip: missing ?? false }, (t) => run(t, server!));
};

/** Creates a store with one session. Until `giveBack` is called, a lock blocks every read of administrative events. */
async function withSlowReads(t: TestContext, pg: PostgresServer) {
  const { url, name } = await makeDatabase(pg);
  const store = await openOn(t, pg, url);
  await begin(store);
  const holder = new Client({ ...connectionOf(pg), database: name });
  await holder.connect();
  t.after(() => holder.end());
  await holder.query('BEGIN; LOCK TABLE admin_event IN ACCESS EXCLUSIVE MODE');
  const waiting = async () => {
    const [row] = await runSql(
      pg,
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`,
    );
    return Number(row!['n']);
  };
  const untilWaiting = async (wanted: number) => {
    const until = performance.now() + 30_000;
    for (let now = await waiting(); now !== wanted; now = await waiting()) {
      assert.ok(performance.now() < until, `${now} reads wait at the server, not ${wanted}`);
      await sleep(10);
    }
  };
  return { store, url, untilWaiting, giveBack: () => holder.query('ROLLBACK') };
}

const read = (store: Store) => store.listAdminEvents({ realmId: 'realm-1', first: 0, max: 10 });

onPostgres(
  'twelve slow reads in parallel do not delay a refresh, a login or any other request',
  async (t, pg) => {
    const { store, untilWaiting, giveBack } = await withSlowReads(t, pg);
    const reads = Array.from({ length: 12 }, () => read(store));
    await untilWaiting(3);
    const { reads: lane, requests: idle } = store.lanes();
    assert.deepEqual([lane!.inUse, lane!.waiting, lane!.refused, idle!.inUse], [3, 9, 0, 0]);
    const begun = performance.now();
    assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
    assert.ok(await store.findSession('session-1', false));
    assert.ok(await store.findUserByUsername('realm-1', 'alice'));
    assert.equal(await store.claimOnce('claim', 2_000_000_000), true);
    const took = performance.now() - begun;
    assert.ok(took < 1_000, `they took ${Math.round(took)} ms`);
    await giveBack();
    for (const events of await Promise.all(reads)) assert.deepEqual(events, []);
  },
);

onPostgres('rejects a read immediately if too many reads are waiting', async (t, pg) => {
  const { store, untilWaiting, giveBack } = await withSlowReads(t, pg);
  const reads = Array.from({ length: 67 }, () => read(store));
  await untilWaiting(3);
  await assert.rejects(read(store), { code: 'IDKIT_UNREACHABLE', message: /busy/ });
  assert.equal(store.lanes()['reads']!.refused, 1);
  await giveBack();
  await Promise.all(reads);
  assert.deepEqual(await read(store), []);
});

onPostgres('removes a waiting read from the queue if its caller disconnects', async (t, pg) => {
  const { store, untilWaiting, giveBack } = await withSlowReads(t, pg);
  const gone = new AbortController();
  const running = [read(store), read(store), read(store)].map((one) => one.catch(() => undefined));
  await untilWaiting(3);
  const queued = forCaller(gone.signal, () => read(store));
  gone.abort(new IdkitError('IDKIT_UNREACHABLE', 'gone'));
  await assert.rejects(queued, { message: 'gone' });
  await giveBack();
  await Promise.all(running);
  assert.deepEqual(await read(store), []);
});

onPostgres('cancels a running statement on the server if its caller disconnects', async (t, pg) => {
  const { store, untilWaiting } = await withSlowReads(t, pg);
  const gone = [new AbortController(), new AbortController(), new AbortController()];
  const running = gone.map(({ signal }) => forCaller(signal, () => read(store)));
  const ended = Promise.allSettled(running);
  await untilWaiting(3);
  for (const [index, one] of gone.entries()) {
    one.abort();
    await untilWaiting(gone.length - 1 - index);
  }
  for (const { status } of await ended) assert.equal(status, 'rejected');
  assert.equal(await store.countUsers({ realmId: 'realm-1' }), 1, 'others have the connections again');
});

onPostgres(
  'the server cancels the read of an administrator after 15 s, and other statements after 30 s',
  async (t, pg) => {
    const { url } = await makeDatabase(pg);
    const connections = connectionsTo({ url: `${url}?password=${pg.password}` }, { holdsLock: false });
    t.after(() => connections.close());
    const limits = await Promise.all(
      (['reads', 'requests'] as const).map((lane) =>
        connections.use(async (client) => (await client.query('SHOW statement_timeout')).rows[0], { lane }),
      ),
    );
    assert.deepEqual(limits, [{ statement_timeout: '15s' }, { statement_timeout: '30s' }]);
  },
);

onPostgres(
  'writes of administrators that wait for a lock do not delay a refresh, a login or any other request',
  async (t, pg) => {
    const { name, url } = await makeDatabase(pg);
    const store = await openOn(t, pg, url);
    await begin(store);
    const holder = new Client({ ...connectionOf(pg), database: name });
    await holder.connect();
    t.after(() => holder.end());
    await holder.query('BEGIN; LOCK TABLE admin_event IN ACCESS EXCLUSIVE MODE');
    const { signal } = new AbortController();
    const writes = Array.from({ length: 20 }, () =>
      forCaller(signal, () => store.clearAdminEvents('realm-1')),
    );
    assert.deepEqual(await store.rotateRefreshToken(rotation({})), { outcome: 'rotated' });
    assert.ok(await store.findSession('session-1', false));
    assert.equal(await store.claimOnce('claim', 2_000_000_000), true);
    const claims = Array.from({ length: 20 }, (_, i) => store.claimOnce(`claim-${i}`, 2_000_000_000));
    assert.ok((await Promise.all(claims)).every(Boolean));
    await holder.query('ROLLBACK');
    await Promise.all(writes);
  },
);
