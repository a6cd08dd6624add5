import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findChains } from '../../../../src/platform/postgres/archive/moments.ts';
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
  await next.stop();
  assert.equal((await findChains(archive.target, archive.keys)).length, 1, 'the chain continues');
  assert.deepEqual(await numbersAt(t, archive, second), [1, 2]);
  assert.deepEqual(await numbersAt(t, archive, third), [1, 2, 3]);
  assert.deepEqual(await numbersAt(t, archive), [1, 2, 3, 4]);
});

test('a role without REPLICATION and a server with wal_level minimal are reported with what to do', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { wal_level: 'minimal', max_wal_senders: '0' } });
  const archive = await makeArchive(t);
  const archiver = startArchiver(t, server, archive);
  const fault = await waitUntil('the archiver fails', () => archiver.state().fault);
  assert.match(`${fault.message} ${fault.hints.join(' ')}`, /max_wal_senders|wal_level/);
  await archiver.stop();
});
