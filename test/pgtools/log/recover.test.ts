import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { parseLsn, type RecoveryTarget, recoverCluster } from '../../../src/pgtools/log/index.ts';
import { makeDirectory } from '../../procedures/platform.ts';
import { runSql } from '../../store/databases.ts';
import { missingPostgres, startPostgres } from '../../store/postgres-server.ts';
import { type Captured, captureBase, captureLog, sourceOf } from './captured.ts';

const skip = missingPostgres() ?? false;

/** Recovers to a target and returns the numbers in the table of the test. */
async function recovered(t: TestContext, captured: Captured, target: RecoveryTarget) {
  const dir = await makeDirectory(t, 'recovery');
  const cluster = await recoverCluster(dir, sourceOf(captured), target);
  try {
    assert.ok(existsSync(join(cluster.socketDirectory, '.s.PGSQL.5432')));
    const client = new Client({ host: cluster.socketDirectory, user: 'postgres', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ n: number }>('SELECT n FROM written ORDER BY n');
    const settings = await client.query<{ name: string; setting: string }>(
      `SELECT name, setting FROM pg_settings WHERE name IN
        ('listen_addresses', 'archive_mode', 'primary_conninfo', 'shared_preload_libraries')`,
    );
    await client.end();
    const [archive, listen, primary, preload] = settings.rows
      .toSorted((one, other) => one.name.localeCompare(other.name))
      .map(({ setting }) => setting);
    assert.deepEqual([archive, listen, primary, preload], ['off', '', '', '']);
    return { numbers: rows.map(({ n }) => n), lastCommit: cluster.lastCommit };
  } finally {
    await cluster.close();
    assert.ok(!existsSync(cluster.socketDirectory), 'the temporary cluster is removed');
  }
}

test('a cluster is recovered to the newest moment, to a time and to the moment before a transaction', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { archive_mode: 'on', archive_command: '/bin/true' } });
  await runSql(server, 'CREATE TABLE written (n int)');
  const captured = await captureBase(server, 'capture');
  const write = async (n: number) => {
    const [row] = await runSql(server, `INSERT INTO written VALUES (${n}) RETURNING xmin::text AS id`);
    const [time] = await runSql(
      server,
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text AS now',
    );
    return { id: String(row!['id']), answered: Number(time!['now']) };
  };
  await write(1);
  const second = await write(2);
  const third = await write(3);
  const [end] = await runSql(server, 'SELECT pg_current_wal_flush_lsn()::text AS at');
  await captureLog(server, captured, 'capture', parseLsn(String(end!['at'])));

  const newest = await recovered(t, captured, { kind: 'newest' });
  assert.deepEqual(newest.numbers, [1, 2, 3]);
  assert.ok(newest.lastCommit! > second.answered && newest.lastCommit! <= third.answered);
  const at = await recovered(t, captured, { kind: 'time', time: second.answered });
  assert.deepEqual(at.numbers, [1, 2]);
  const before = await recovered(t, captured, { kind: 'before transaction', id: third.id });
  assert.deepEqual(before.numbers, [1, 2]);
  const late = await recovered(t, captured, { kind: 'time', time: third.answered + 3_600_000_000 });
  assert.deepEqual(late.numbers, [1, 2, 3], 'a moment after the newest is the newest');
});
