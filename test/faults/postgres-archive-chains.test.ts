import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { checkArchive, listChains } from '../../src/archive/index.ts';
import { findChains } from '../../src/platform/postgres/archive/moments.ts';
import {
  makeArchive,
  numbersAt,
  startArchiver,
  waitUntilProven,
  write,
} from '../platform/postgres/archive/archived.ts';
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

test('what only moments older than the time to keep need is deleted after each base', { skip }, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  const archiver = startArchiver(t, server, archive, {
    baseRule: { milliseconds: 2000, logBytes: 1024 ** 3 },
    keepMilliseconds: 0,
  });
  await archiver.caughtUp();
  const first = await write(server, 1);
  let written = 1;
  await waitUntil('the first base is deleted', async () => {
    await write(server, ++written);
    const [chain] = await listChains(archive.target);
    const bases = [...chain!.files.keys()].filter((name) => name.startsWith('base-'));
    return bases.length > 0 && !bases.some((name) => name.startsWith('base-00000001-'));
  });
  await archiver.caughtUp();
  await archiver.stop();
  assert.equal(archiver.state().retentionFault, undefined);
  assert.deepEqual((await checkArchive(archive.target, archive.keys, undefined)).problems, []);
  const all = Array.from({ length: written }, (_, index) => index + 1);
  assert.deepEqual(await numbersAt(t, archive), all);
  await assert.rejects(numbersAt(t, archive, first), { code: 'IDKIT_NOT_FOUND' });
});

test('while the target fails, the slot is dropped beyond its limit, and a new chain begins later', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written (n int)');
  const archive = await makeArchive(t);
  const spoolBytes = 24 * 1024 * 1024;
  const archiver = startArchiver(t, server, archive, { spoolBytes });
  await archiver.caughtUp();
  const early = await write(server, 1);
  await waitUntilProven(archive, early);
  const slots = () => runSql(server, 'SELECT slot_name, restart_lsn FROM pg_replication_slots');
  assert.equal((await slots()).length, 1);
  // A file in the place of the directory makes each write to the target fail.
  await rename(archive.location, `${archive.location}.away`);
  await writeFile(archive.location, '');
  await write(server, 2);
  for (let file = 0; file < 4; file++) await runSql(server, 'SELECT pg_switch_wal(); CHECKPOINT');
  await waitUntil('the slot is dropped', async () => (await slots()).length === 0, {
    seen: () => archiver.state(),
  });
  await runSql(server, 'CHECKPOINT');
  await rm(archive.location);
  await rename(`${archive.location}.away`, archive.location);
  await waitUntil('a chain begins', () => archiver.broken().length > 1, { seen: () => archiver.state() });
  await archiver.caughtUp();
  await archiver.stop();
  assert.match(archiver.broken().at(-1)!, /no longer has the WAL|more than the limit of/);
  assert.deepEqual(await numbersAt(t, archive, early), [1]);
  assert.deepEqual(await numbersAt(t, archive), [1, 2]);
});

test('a base that is not completed is removed from the target, and does not end the archive', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  await runSql(server, 'CREATE TABLE written AS SELECT n FROM generate_series(1, 1000) n');
  // So much incompressible data that the base has several parts.
  await runSql(
    server,
    'CREATE TABLE filling AS SELECT sha512(n::text::bytea) AS noise FROM generate_series(1, 600000) n',
  );
  const archive = await makeArchive(t);
  const files = async () => (await listChains(archive.target)).map((chain) => [...chain.files.keys()]);
  const archiver = startArchiver(t, server, archive);
  await waitUntil('the base has a part', async () =>
    (await files()).flat().includes('base-00000001-00000001'),
  );
  await runSql(
    server,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'walsender'",
  );
  await archiver.caughtUp();
  await archiver.stop();
  assert.equal((await files()).length, 1, 'only the chain that is complete is left');
  assert.equal((await numbersAt(t, archive)).length, 1000);
});
