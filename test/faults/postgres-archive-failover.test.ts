import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { findChains } from '../../src/platform/postgres/archive/moments.ts';
import {
  makeArchive,
  numbersAt,
  startArchiver,
  waitUntilProven,
  write,
} from '../platform/postgres/archive/archived.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres() ?? false;

/** A primary with a standby, and an archiver that knows the addresses of both. */
async function startPair(t: TestContext) {
  const primary = await startPostgres(t);
  await runSql(primary, 'CREATE TABLE written (n int)');
  const standby = await startPostgres(t, { standbyOf: primary });
  const archive = await makeArchive(t);
  const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
  const start = () => startArchiver(t, primary, archive, { address: parsePostgresUrl(url) });
  return { primary, standby, archive, start };
}

async function promote(standby: PostgresServer): Promise<void> {
  const [row] = await runSql(standby, 'SELECT pg_promote(true, 60) AS promoted');
  assert.equal(row!['promoted'], true);
}

test('after a standby is promoted, the chain continues, and moments before and after it are restored', {
  skip,
  timeout: 240_000,
}, async (t) => {
  const { primary, standby, archive, start } = await startPair(t);
  const archiver = start();
  await archiver.caughtUp();
  const first = await write(primary, 1);
  await archiver.caughtUp();
  // The server sends its last WAL to the archiver and the standby before it ends.
  await primary.stop('fast');
  await promote(standby);
  const second = await write(standby, 2);
  await archiver.caughtUp(standby);
  await archiver.stop();
  // The next archiver begins on the new timeline.
  const next = start();
  const third = await write(standby, 3);
  await next.caughtUp(standby);
  await next.stop();
  assert.deepEqual(archiver.broken(), ['the archive was empty']);
  const chains = await findChains(archive.target, archive.keys);
  assert.deepEqual(
    chains.map(({ listing }) => [...new Set(listing.logs.map(({ generation }) => generation))]),
    [[1, 2]],
  );
  assert.deepEqual(await numbersAt(t, archive, first), [1]);
  assert.deepEqual(await numbersAt(t, archive, second), [1, 2]);
  assert.deepEqual(await numbersAt(t, archive, third), [1, 2, 3]);
  assert.deepEqual(await numbersAt(t, archive), [1, 2, 3]);
});

test('if the promoted standby lacks WAL that is archived, a new chain begins, and both can be restored', {
  skip,
  timeout: 240_000,
}, async (t) => {
  const { primary, standby, archive, start } = await startPair(t);
  const archiver = start();
  await archiver.caughtUp();
  await waitUntil('the standby streams', async () => {
    const [row] = await runSql(
      primary,
      "SELECT state FROM pg_stat_replication WHERE application_name = 'walreceiver'",
    );
    return row?.['state'] === 'streaming';
  });
  await standby.stop('fast');
  const lost = await write(primary, 1);
  await waitUntilProven(archive, lost);
  await primary.stop('immediate');
  await standby.start();
  await promote(standby);
  await write(standby, -1);
  await waitUntil('the archiver begins a chain', () => archiver.broken().length > 1, {
    seen: () => archiver.state(),
  });
  await archiver.caughtUp(standby);
  const last = await write(standby, -2);
  await archiver.caughtUp(standby);
  await archiver.stop();
  assert.deepEqual(archiver.broken(), [
    'the archive was empty',
    'the server no longer has the WAL that follows the archive',
  ]);
  assert.deepEqual(await numbersAt(t, archive, lost), [1]);
  assert.deepEqual(await numbersAt(t, archive, last), [-2, -1]);
});
