import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { forCaller, IdkitError } from '../../../src/core/index.ts';
import { type Connections, connectionsTo } from '../../../src/postgres/driver.ts';
import type { Store } from '../../../src/store/index.ts';
import { AdministrativeReads } from '../../../src/store/postgres/reads.ts';
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
async function withSlowReads(t: TestContext, pg: PostgresServer, connections = 80) {
  const { url, name } = await makeDatabase(pg);
  await runSql(pg, `ALTER DATABASE ${name} CONNECTION LIMIT ${connections}`);
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
    await untilWaiting(2);
    const { reads: lane, requests: idle } = store.lanes();
    assert.deepEqual([lane!.inUse, lane!.waiting, lane!.refused, idle!.inUse], [2, 10, 0, 0]);
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
  const reads = Array.from({ length: 66 }, () => read(store));
  await untilWaiting(2);
  await assert.rejects(read(store), { code: 'IDKIT_UNREACHABLE', message: /busy/ });
  assert.equal(store.lanes()['reads']!.refused, 1);
  await giveBack();
  await Promise.all(reads);
  assert.deepEqual(await read(store), []);
});

onPostgres('with few connections, a slow read does not block the other reads', async (t, pg) => {
  const { store, untilWaiting, giveBack } = await withSlowReads(t, pg, 40);
  const gone = new AbortController();
  const cancelled = forCaller(gone.signal, () => read(store)).catch(() => 'cancelled');
  const slow = read(store);
  await untilWaiting(1);
  const sessions = await forCaller(new AbortController().signal, () =>
    store.listUserSessions('user-1', false),
  );
  assert.equal(sessions.length, 1);
  gone.abort();
  assert.equal(await cancelled, 'cancelled');
  await giveBack();
  assert.deepEqual(await slow, []);
});

onPostgres('removes a waiting read from the queue if its caller disconnects', async (t, pg) => {
  const { store, untilWaiting, giveBack } = await withSlowReads(t, pg);
  const gone = new AbortController();
  const running = [read(store), read(store)].map((one) => one.catch(() => undefined));
  await untilWaiting(2);
  const queued = forCaller(gone.signal, () => read(store));
  gone.abort(new IdkitError('IDKIT_UNREACHABLE', 'gone'));
  await assert.rejects(queued, { message: 'gone' });
  await giveBack();
  await Promise.all(running);
  assert.deepEqual(await read(store), []);
});

onPostgres('cancels a running statement on the server if its caller disconnects', async (t, pg) => {
  const { store, untilWaiting } = await withSlowReads(t, pg);
  const gone = [new AbortController(), new AbortController()];
  const running = gone.map(({ signal }) => forCaller(signal, () => read(store)));
  const ended = Promise.allSettled(running);
  await untilWaiting(2);
  for (const [index, one] of gone.entries()) {
    one.abort();
    await untilWaiting(gone.length - 1 - index);
  }
  for (const { status } of await ended) assert.equal(status, 'rejected');
  assert.equal(await store.countUsers({ realmId: 'realm-1' }), 1, 'others have the connections again');
});

test('sends no statement of a caller who disconnects while the pool connects, or before a repetition', async () => {
  const sent: unknown[] = [];
  const gone = new AbortController();
  const client = {
    query: async (order: unknown) => {
      sent.push(order);
      if (sent.length > 1) return { rows: [] };
      gone.abort();
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    },
  };
  const uses: string[] = [];
  const connections = {
    place: 'nowhere',
    sizes: { requests: 1, reads: 4, changes: 1 },
    serverOf: () => undefined,
    use: async (work: (client: unknown) => Promise<unknown>, { lane }: { lane: string }) => {
      uses.push(lane);
      await sleep(5);
      return work(client);
    },
  } as unknown as Connections;
  const reads = new AdministrativeReads(connections);
  const order = { text: 'SELECT 1', values: [] };
  await assert.rejects(
    forCaller(gone.signal, () => reads.read(order)),
    { name: 'AbortError' },
  );
  assert.equal(sent.filter((one) => one === order).length, 1, 'not sent again');
  sent.length = 0;
  const early = new AbortController();
  const connecting = forCaller(early.signal, () => reads.read(order));
  early.abort();
  await assert.rejects(connecting, { name: 'AbortError' });
  assert.deepEqual(sent, []);
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
