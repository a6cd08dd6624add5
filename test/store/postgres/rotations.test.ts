import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { IdkitError } from '../../../src/core/index.ts';
import type { Rotation, Store } from '../../../src/store/index.ts';
import { Batches } from '../../../src/store/postgres/batches.ts';
import { COMPILED_QUERIES } from '../../../src/store/queries/compiled/postgres.ts';
import { idBytes } from '../../../src/store/records/id-bytes.ts';
import { aFamily, aRealm, aSession, aUser, hash, START } from '../../conformance/store/records.ts';
import { waitUntil } from '../../wait-until.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';
import { wayTo } from '../way-to.ts';

// Checks that locks of other transactions and slow commits do not delay other calls or cost a client its session.

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const skip = missing ?? false;

async function begin(store: Store): Promise<void> {
  await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', user: aUser({}) },
  ]);
  for (const i of [0, 1])
    await store.startSession(
      aSession({ id: `session-${i}` }),
      aFamily({ id: `family-${i}`, sessionId: `session-${i}`, currentHash: hash(`${i} 0`) }),
    );
}

const turn = (family: number, presented: string, next: string): Rotation => ({
  sessionId: `session-${family}`,
  familyId: `family-${family}`,
  presentedHash: hash(presented),
  nextHash: hash(next),
  now: START,
  singleUse: true,
  maxReuse: 0,
});

test('the rotation of a locked token family fails after a timeout and does not delay other families', {
  skip,
}, async (t) => {
  const { url, name } = await makeDatabase(server!);
  const store = await openOn(t, server!, url);
  await begin(store);
  const holder = new Client({ ...connectionOf(server!), database: name });
  await holder.connect();
  t.after(() => holder.end());
  await holder.query(
    `BEGIN; DELETE FROM user_session WHERE id = convert_to('session-0', 'UTF8') || '\\x0001'`,
  );
  const held = assert.rejects(store.rotateRefreshToken(turn(0, '0 0', '0 1')), {
    code: 'IDKIT_UNREACHABLE',
    message: /locked a session for too long/,
  });
  assert.deepEqual(await store.rotateRefreshToken(turn(1, '1 0', '1 1')), { outcome: 'rotated' });
  await held;
  const waiting = store.rotateRefreshToken(turn(0, '0 0', '0 2'));
  assert.deepEqual(await store.rotateRefreshToken(turn(1, '1 1', '1 2')), { outcome: 'rotated' });
  await holder.query('ROLLBACK');
  assert.deepEqual(await waiting, { outcome: 'rotated' });
  await holder.query(
    `BEGIN; DELETE FROM user_session WHERE id = convert_to('session-0', 'UTF8') || '\\x0001'`,
  );
  const late = store.rotateRefreshToken(turn(0, '0 2', '0 3'));
  await store.rotateRefreshToken(turn(1, '1 2', '1 3'));
  await holder.query('COMMIT');
  assert.deepEqual(await late, { outcome: 'gone' });
});

test('if a batch cannot reach the database, the calls that waited for it fail too', async () => {
  let batches = 0;
  let refuse = () => {};
  const reads = new Batches<number, number>({
    largest: 2,
    run: (inputs) => {
      if (++batches > 1) return Promise.resolve(inputs.map((input) => Promise.resolve(input)));
      return new Promise((_, reject) => {
        refuse = () => reject(new IdkitError('IDKIT_UNREACHABLE', 'away'));
      });
    },
  });
  const early = Promise.allSettled(Array.from({ length: 9 }, (_, i) => reads.call(i)));
  await waitUntil('the first batch runs', () => batches > 0, { every: 1 });
  const late = reads.call(10);
  refuse();
  assert.ok((await early).every(({ status }) => status === 'rejected'));
  assert.equal(await late, 10, 'a later call is not affected');
  assert.equal(batches, 2);
});

test('undoes a rotation that takes effect only after its caller received an error', {
  skip,
}, async (t: TestContext) => {
  const { url } = await makeDatabase(server!);
  const elsewhere = await openOn(t, server!, url);
  await begin(elsewhere);
  const way = await wayTo(t, server!);
  const store = await openOn(t, server!, url.replace(`:${server!.port}/`, `:${way.port}/`));
  assert.deepEqual(await store.rotateRefreshToken(turn(0, '0 0', '0 1')), { outcome: 'rotated' });
  // A commit now waits for a missing standby. Until then, no other transaction sees it.
  await runSql(server!, `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await runSql(server!, 'SELECT pg_reload_conf()');
  const waiting = () => runSql(server!, `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
  // The server applies the setting a little later. Until then, commit repeatedly as a probe.
  for (let probe: Promise<unknown> = Promise.resolve(true); (await waiting()).length === 0; ) {
    const seen = await Promise.race([probe, sleep(50)]);
    if (seen !== undefined) probe = runSql(server!, `SELECT pg_logical_emit_message(true, 'a', 'commit')`);
  }
  const sent = store.rotateRefreshToken(turn(0, '0 1', '0 lost'));
  await waitUntil('both commits wait for the standby', async () => (await waiting()).length >= 2);
  const presented = (await elsewhere.findFamily('session-0', 'family-0'))!.family.currentHash;
  way.cut('at once');
  await assert.rejects(sent, { code: 'IDKIT_UNREACHABLE' });
  way.mend();
  await store.findFamily('session-0', 'family-0');
  await sleep(500);
  await runSql(server!, 'ALTER SYSTEM RESET synchronous_standby_names');
  await runSql(server!, 'SELECT pg_reload_conf()');
  await waitUntil('no commit waits any more', async () => (await waiting()).length === 0);
  assert.deepEqual(await store.rotateRefreshToken({ ...turn(0, '', '0 next'), presentedHash: presented }), {
    outcome: 'rotated',
  });
});

test('a rotation writes only the row of its token family, and no index', {
  skip,
}, async (t: TestContext) => {
  const { url, name } = await makeDatabase(server!);
  const store = await openOn(t, server!, url);
  await begin(store);
  const ids = Array.from({ length: 300 }, (_, i) => `session ${i}`);
  await Promise.all(
    ids.map((id) =>
      store.startSession(aSession({ id }), aFamily({ id, sessionId: id, currentHash: hash(id) })),
    ),
  );
  const client = new Client({ ...connectionOf(server!), database: name });
  await client.connect();
  t.after(() => client.end());
  const some = ids.filter((_, i) => i % 20 === 0);
  const bytes = some.map(idBytes);
  await client.query('BEGIN');
  const rotated = await client.query(COMPILED_QUERIES['family.rotateAll'].sql, [
    bytes,
    bytes,
    some.map(hash),
    some.map(() => hash('next')),
    some.map(() => START),
    some.map(() => true),
    some.map(() => null),
  ]);
  assert.equal(rotated.rowCount, some.length);
  const { rows } = await client.query(
    `SELECT pg_stat_get_xact_tuples_updated('token_family'::regclass)::int AS written,
       pg_stat_get_xact_tuples_hot_updated('token_family'::regclass)::int AS hot,
       pg_stat_get_xact_tuples_updated('user_session'::regclass)::int AS sessions`,
  );
  assert.deepEqual(rows, [{ written: some.length, hot: some.length, sessions: 0 }]);
  await client.query('ROLLBACK');
});
