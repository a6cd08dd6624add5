import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArchiveState } from '../../../../src/archive/index.ts';
import { parsePostgresUrl, platformPaths } from '../../../../src/config/index.ts';
import { Secret } from '../../../../src/core/index.ts';
import type { ArchiverState } from '../../../../src/platform/postgres/archive/archiver.ts';
import { findChains } from '../../../../src/platform/postgres/archive/moments.ts';
import { keepState } from '../../../../src/platform/postgres/archive/state-file.ts';
import { makeDirectory } from '../../../procedures/platform.ts';
import { runSql } from '../../../store/databases.ts';
import { missingPostgres, startPostgres } from '../../../store/postgres-server.ts';
import { waitUntil } from '../../../wait-until.ts';
import { makeArchive, numbersAt, startArchiver, write } from './archived.ts';

const skip = missingPostgres() ?? false;

test('an archive restores every write that was confirmed by a moment, and none after it', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  const first = startArchiver(t, server, archive);
  await first.caughtUp();
  await write(server, 1);
  const second = await write(server, 2);
  await first.caughtUp();
  await first.stop();
  // While no archiver runs, the slot keeps the WAL.
  const third = await write(server, 3);
  const next = startArchiver(t, server, archive);
  await write(server, 4);
  await next.caughtUp();
  const dir = await makeDirectory(t, 'platform');
  await mkdir(platformPaths(dir).data, { recursive: true });
  const kept = async (state: ArchiverState) => {
    const file = keepState(dir, 'the target');
    file.put(state);
    await file.end();
    return readArchiveState(join(platformPaths(dir).data, 'archive.json'));
  };
  const active = next.state();
  assert.equal(
    (await kept(active))?.newest,
    active.through,
    'status knows the newest moment after a restart',
  );
  const other = startArchiver(t, server, archive);
  await waitUntil('the other replica waits', () => other.state().doing === 'waiting');
  const { through = 0 } = other.state();
  assert.ok(through >= second, 'a replica that waits knows the newest moment, too');
  assert.equal((await kept(other.state()))?.newest, through);
  await other.stop();
  await next.stop();
  assert.equal((await findChains(archive.target, archive.keys)).length, 1, 'the chain continues');
  assert.deepEqual(await numbersAt(t, archive, second), [1, 2]);
  assert.deepEqual(await numbersAt(t, archive, third), [1, 2, 3]);
  assert.deepEqual(await numbersAt(t, archive), [1, 2, 3, 4]);
});

test('a role without REPLICATION is reported with the SQL that grants it', { skip }, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, "CREATE ROLE service LOGIN PASSWORD 'Service-Test-1'");
  const archive = await makeArchive(t);
  const archiver = startArchiver(t, server, archive, {
    address: parsePostgresUrl(`postgres://service@127.0.0.1:${server.port}/postgres`),
    password: new Secret('Service-Test-1'),
  });
  const fault = await waitUntil('the archiver fails', () => archiver.state().fault);
  assert.equal(fault.code, 'IDKIT_CREDENTIALS');
  assert.match(fault.hints.join(' '), /ALTER ROLE "service" REPLICATION/);
  await archiver.stop();
  // The hint is literally what is needed.
  await runSql(server, 'ALTER ROLE "service" REPLICATION');
  await runSql(server, 'CREATE TABLE written (n int)');
  const next = startArchiver(t, server, archive, {
    address: parsePostgresUrl(`postgres://service@127.0.0.1:${server.port}/postgres`),
    password: new Secret('Service-Test-1'),
  });
  await write(server, 1);
  await next.caughtUp();
  await next.stop();
  assert.deepEqual(await numbersAt(t, archive), [1]);
});

test('a server with wal_level minimal is reported with what to do', { skip }, async (t) => {
  const server = await startPostgres(t, { settings: { wal_level: 'minimal', max_wal_senders: '0' } });
  const archive = await makeArchive(t);
  const archiver = startArchiver(t, server, archive);
  const fault = await waitUntil('the archiver fails', () => archiver.state().fault);
  assert.equal(fault.code, 'IDKIT_SETTING');
  assert.match(`${fault.message} ${fault.hints.join(' ')}`, /max_wal_senders|wal_level/);
  await archiver.stop();
});
