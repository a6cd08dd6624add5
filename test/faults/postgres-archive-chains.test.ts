import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findChains } from '../../src/platform/postgres/archive/moments.ts';
import { makeArchive, numbersAt, startArchiver, write } from '../platform/postgres/archive/archived.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres() ?? false;

test('a later base belongs to the same chain, and moments before and after it are restored', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  const archiver = startArchiver(t, server, archive, {
    baseRule: { milliseconds: 3000, logBytes: 1024 ** 3 },
  });
  await archiver.caughtUp();
  const first = await write(server, 1);
  let written = 1;
  const [chain] = await waitUntil('the chain has a second base', async () => {
    // Without writes, no piece is shipped.
    await write(server, ++written);
    const chains = await findChains(archive.target, archive.keys);
    return (chains[0]?.bases.length ?? 0) >= 2 && chains;
  });
  const last = await write(server, ++written);
  await archiver.caughtUp();
  await archiver.stop();
  assert.equal(archiver.state().baseFault, undefined);
  assert.ok(first < chain!.bases[1]!.first.at);
  assert.deepEqual(await numbersAt(t, archive, first), [1]);
  const all = Array.from({ length: written }, (_, index) => index + 1);
  assert.deepEqual(await numbersAt(t, archive, last), all);
});

test('a chain ends with a slot that was dropped, and the seconds of the gap are named', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  const first = startArchiver(t, server, archive);
  await first.caughtUp();
  const early = await write(server, 1);
  await first.caughtUp();
  await first.stop();
  await runSql(server, 'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
  const lost = await write(server, 2);
  for (let file = 0; file < 3; file++) await runSql(server, 'SELECT pg_switch_wal(); CHECKPOINT');
  const next = startArchiver(t, server, archive);
  await next.caughtUp();
  await write(server, 3);
  await next.caughtUp();
  await next.stop();
  assert.deepEqual(next.broken(), ['the server no longer has the WAL that follows the archive']);
  assert.deepEqual(await numbersAt(t, archive, early), [1]);
  assert.deepEqual(await numbersAt(t, archive), [1, 2, 3]);
  await assert.rejects(numbersAt(t, archive, lost), { code: 'IDKIT_DAMAGED' });
});
