import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { runSql } from '../store/databases.ts';
import { waitUntil } from '../wait-until.ts';
import {
  type Databases,
  describeOnEachDatabase,
  type FaultPlatform,
  listSetNames,
  startProgram,
} from './each-database.ts';

/** Writes over a page in the middle of the database file. */
async function damagePage(dir: string): Promise<void> {
  const path = join(dir, 'data/idkit.db');
  const { size } = await stat(path);
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, Math.floor(size / 8192) * 4096);
  await file.close();
}

/** Returns the process of pg_dump that a backup started. */
function pgDumpOf(pid: number): number | undefined {
  const processes = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .flatMap((match) =>
      match === null ? [] : [{ pid: Number(match[1]), parent: Number(match[2]), args: match[3]! }],
    );
  const below = (parent: number): typeof processes =>
    processes.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid).find(({ args }) => /pg_dump /.test(args) && !args.includes('--version'))?.pid;
}

/** Kills pg_dump while it waits for a table that another session has locked. */
async function killPgDump(platform: FaultPlatform, server: NonNullable<Databases['server']>) {
  // Only pg_dump reads this table. The counts of the snapshot come from others.
  const holder = runSql(
    server,
    `DO $$ BEGIN LOCK TABLE user_consent IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(600); END $$`,
    'idkit',
  ).catch(() => undefined);
  await waitUntil('the table is locked', async () => {
    const rows = await runSql(
      server,
      `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted`,
      'idkit',
    );
    return rows.length > 0;
  });
  const running = startProgram(platform.dir, ['backup']);
  let pid: number | undefined;
  await waitUntil(
    'pg_dump runs',
    async () => {
      pid = pgDumpOf(running.pid);
      return pid !== undefined;
    },
    { seconds: 60 },
  );
  process.kill(pid!, 'SIGKILL');
  const ended = await running.ended;
  await runSql(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO $$ BEGIN LOCK%'`,
  );
  await holder;
  return ended;
}

describeOnEachDatabase('a dump that fails', (databases) => {
  const { kind, fresh } = databases;
  const what = kind === 'SQLite' ? 'a page of the database is damaged' : 'pg_dump is killed';
  it(`publishes no set and deletes none, and the message names the cause: ${what} (${kind})`, async (t) => {
    const platform = await fresh(t);
    // An expired set, which a successful backup would delete.
    await cp(platform.set, join(platform.root, '20200101_020000'), { recursive: true });
    const before = await listSetNames(platform.root);
    let ended: Awaited<ReturnType<typeof killPgDump>>;
    if (databases.server === undefined) {
      await damagePage(platform.dir);
      ended = await startProgram(platform.dir, ['backup']).ended;
      assert.equal(ended.code, 13, ended.stderr);
    } else {
      ended = await killPgDump(platform, databases.server);
      assert.ok(ended.code === 1 || ended.code === 15, `${ended.code}: ${ended.stderr}`);
      assert.match(ended.stderr, /pg_dump/);
    }
    assert.equal(ended.stdout, '');
    assert.deepEqual(await listSetNames(platform.root), before);
    assert.deepEqual(
      (await readdir(platform.root)).filter((name) => name.startsWith('.partial')),
      [],
    );
  });
});
