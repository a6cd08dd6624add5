import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPlatforms, type PostgresPlatforms } from '../procedures/postgres-platform.ts';
import { NEW, OLD } from '../procedures/restored-state.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres } from '../store/postgres-server.ts';
import { runProgram } from './each-database.ts';

describe('a target that differs from the source', { skip: missingPostgres() ?? false }, () => {
  let platforms: PostgresPlatforms;
  const ends: (() => unknown)[] = [];
  before(async () => {
    platforms = await openPlatforms({ after: (end) => ends.push(end) }, { wal_level: 'logical' });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it('a logical replication slot is found before the load, with the way out (exit code 14)', async (t) => {
    const platform = await platforms.fresh(t);
    const { server } = platforms;
    await runSql(server, `SELECT pg_create_logical_replication_slot('reader', 'pgoutput')`, 'idkit');
    const args = ['restore', '--from', platform.set, '--yes'];
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await runProgram(platform.dir, [...args, ...more]);
      assert.equal(code, 14, stderr);
      assert.match(stderr, /the database idkit has logical replication slots.*: reader/);
      assert.match(stderr, /SELECT pg_drop_replication_slot\('reader'\)/);
      assert.deepEqual(await platform.readState(), OLD);
    }
    await runSql(server, `SELECT pg_drop_replication_slot('reader')`);
    assert.equal((await runProgram(platform.dir, args)).code, 0);
    assert.deepEqual(await platform.readState(), NEW);
    t.diagnostic('injected 2 faults');
  });

  it('a live database in SQL_ASCII is replaced by one with the encoding of the source', async (t) => {
    const platform = await platforms.fresh(t);
    const { server } = platforms;
    await runSql(server, 'DROP DATABASE idkit WITH (FORCE)');
    await runSql(
      server,
      `CREATE DATABASE idkit OWNER idkit ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    await runSql(server, `ALTER DATABASE idkit SET work_mem = '9MB'`);
    const { code, stderr } = await runProgram(platform.dir, ['restore', '--from', platform.set, '--yes']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await platform.readState(), NEW);
    const [row] = await runSql(
      server,
      `SELECT pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = 'idkit'`,
    );
    assert.equal(row!['encoding'], 'UTF8');
  });
});
