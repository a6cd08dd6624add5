import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Client } from 'pg';
import { Secret } from '../../src/core/index.ts';
import { lockPostgres } from '../../src/postgres/index.ts';
import { aRealm, aRole } from '../conformance/store/records.ts';
import { makeDatabase, openOn, runSql } from '../store/databases.ts';
import { startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { checkNothingLeft, fillPool, missingPooler, startPooler } from './pgbouncer.ts';

// These tests use a real pgbouncer with its default configuration, except for its pool mode.

const missing = missingPooler();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const skip = missing ?? false;

test('locks and notifications work through a pooler in session mode', {
  skip,
}, async (t) => {
  const { name } = await makeDatabase(server!);
  const { url } = await startPooler(t, server!, name, 'session');
  const [store, other] = [await openOn(t, server!, url), await openOn(t, server!, url)];
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  assert.equal((await other.findRealm('acme'))!.roles.size, 0);
  const end = await store.takeTurn('a turn');
  await store.apply([{ do: 'create', role: aRole({}) }]);
  await waitUntil('the role is seen', async () => (await other.findRealm('acme'))!.roles.size > 0);
  await end();
  const [locks] = await runSql(
    server!,
    `SELECT count(DISTINCT pid) > 2 AS each FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'`,
  );
  assert.deepEqual(locks, { each: true }, 'each connection holds the service lock');
});

function isRefusal(error: Error & { code?: string; hints?: string[] }): true {
  assert.equal(error.code, 'IDKIT_SETTING');
  assert.match(error.message, /share connections of the server/);
  assert.match(error.hints!.join(), /pool_mode = session/);
  return true;
}

const OTHER_MODES = [
  { mode: 'transaction', settings: '' },
  { mode: 'transaction', settings: 'server_round_robin = 1\n' },
  { mode: 'statement', settings: '' },
];

for (const { mode, settings } of OTHER_MODES)
  test(`always rejects a pooler in ${mode} mode (${settings.trim() || 'defaults'}), and leaves nothing on its connections`, {
    skip,
  }, async (t) => {
    const { name } = await makeDatabase(server!);
    const { url, openStranger } = await startPooler(t, server!, name, mode, settings);
    const strangers = await Promise.all([1, 2, 3].map(() => openStranger()));
    let working = true;
    const work = strangers.map(async (stranger) => {
      while (working) await stranger.query('SELECT pg_sleep(0.001)');
    });
    for (let attempt = 0; attempt < 12; attempt++) {
      // In the second half of the attempts, the pooler has no other clients.
      if (attempt === 6) {
        working = false;
        await Promise.all(work);
      }
      await assert.rejects(openOn(t, server!, url), isRefusal);
    }
    await checkNothingLeft(server!, name, strangers);
    const tables = await runSql(server!, `SELECT relname FROM pg_class WHERE relname = 'idkit_schema'`, name);
    assert.deepEqual(tables, [], 'the database is still empty');
    await Promise.all(strangers.map((stranger) => stranger.end()));
  });

for (const idle of [1, 2, 3, 4])
  for (const settings of ['server_round_robin = 1\n', ''])
    test(`takes no lock through a pooler in transaction mode with a pool of ${idle} (${settings.trim() || 'defaults'})`, {
      skip,
    }, async (t) => {
      const { name } = await makeDatabase(server!);
      const { url, openStranger } = await startPooler(t, server!, name, 'transaction', settings);
      const strangers: Client[] = [];
      for (let number = 0; number < idle; number++) strangers.push(await openStranger());
      await fillPool(strangers);
      const location = { url, password: new Secret(server!.password) };
      for (let attempt = 0; attempt < 4; attempt++) await assert.rejects(takeAndRelease(location), isRefusal);
      await checkNothingLeft(server!, name, strangers);
      await Promise.all(strangers.map((stranger) => stranger.end()));
    });

async function takeAndRelease(location: { url: string; password: Secret }): Promise<void> {
  const lock = await lockPostgres(location, 'exclusive');
  await lock.release();
}
