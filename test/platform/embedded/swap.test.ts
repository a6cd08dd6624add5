import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import {
  discardFiles,
  type SwapFiles,
  swapFile,
  swapFileBack,
  swapFiles,
} from '../../../src/platform/embedded/swap.ts';

const root = mkdtempSync(join(tmpdir(), 'idkit-swap-'));
after(() => rmSync(root, { recursive: true, force: true }));
let places = 0;

/** Creates a live and a staged database. The newest row of the live one is still in its write-ahead log. */
function place(options: { previous: boolean } = { previous: true }): SwapFiles {
  const dir = mkdtempSync(join(root, `${++places}-`));
  const files = swapFiles(join(dir, 'idkit.db'), 'r1');
  if (options.previous) leaveWithLog(files.live);
  fill(files.staged, ['new']);
  return files;
}

function fill(file: string, rows: readonly string[]): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE rows (name TEXT)');
  for (const row of rows) database.prepare('INSERT INTO rows VALUES (?)').run(row);
  database.close();
}

/**
 * Creates a database with its write-ahead log, as a killed service leaves them: copies both files while a connection is
 * open.
 */
function leaveWithLog(file: string): void {
  const born = `${file}.born`;
  const database = new DatabaseSync(born);
  database.exec('PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE rows (name TEXT)');
  database.exec("INSERT INTO rows VALUES ('old'); PRAGMA wal_checkpoint(TRUNCATE)");
  database.exec("INSERT INTO rows VALUES ('old, in the log')");
  copyFileSync(born, file);
  copyFileSync(`${born}-wal`, `${file}-wal`);
  database.close();
  rmSync(born);
}

function rows(file: string): readonly string[] {
  assert.ok(existsSync(file), `${file} exists`);
  const database = new DatabaseSync(file);
  try {
    return database
      .prepare('SELECT name FROM rows')
      .all()
      .map((row) => String(row['name']));
  } finally {
    database.close();
  }
}

const OLD = ['old', 'old, in the log'];

/** Runs one call in a separate process that is killed before its n-th change to the file system. */
function runKilled(
  call: 'swapFile' | 'swapFileBack',
  files: SwapFiles,
  n: number,
): { calls: number | undefined } {
  const module = new URL('../../../src/platform/embedded/swap.ts', import.meta.url).href;
  const script = `const { ${call} } = await import(${JSON.stringify(module)}); await ${call}(${JSON.stringify(files)});`;
  const preload = new URL('./kill-at-call.ts', import.meta.url).href;
  const child = spawnSync(process.execPath, ['--import', preload, '--input-type=module', '-e', script], {
    env: { ...process.env, KILL_AT_CALL: String(n) },
    encoding: 'utf8',
  });
  if (child.signal === 'SIGKILL') return { calls: undefined };
  assert.equal(child.status, 0, child.stderr);
  return { calls: Number(/calls (\d+)/.exec(child.stdout)?.[1]) };
}

test('puts the staged database in place and keeps the previous one, including its write-ahead log', async () => {
  const files = place();
  await swapFile(files);
  assert.deepEqual(rows(files.live), ['new']);
  assert.deepEqual(rows(files.previous), OLD);
  assert.ok(!existsSync(files.staged));
  await swapFile(files);
  assert.deepEqual(rows(files.live), ['new'], 'a second call changes nothing');
});

test('puts the previous database back, and a second call changes nothing', async () => {
  const files = place();
  await swapFile(files);
  await swapFileBack(files);
  assert.deepEqual(rows(files.live), OLD);
  await swapFileBack(files);
  assert.deepEqual(rows(files.live), OLD);
});

test('undoing a swap that never happened does nothing', async () => {
  const files = place();
  await swapFileBack(files);
  assert.deepEqual(rows(files.live), OLD);
  assert.deepEqual(rows(files.staged), ['new']);
});

test('undoing a swap removes the database if none existed before', async () => {
  const files = place({ previous: false });
  await swapFile(files);
  assert.deepEqual(rows(files.live), ['new']);
  await swapFileBack(files);
  assert.ok(!existsSync(files.live));
});

test('discards the staged database and, with `previous`, also the database that a swap kept', async () => {
  const files = place();
  await swapFile(files);
  await discardFiles(files, { previous: false });
  assert.deepEqual(rows(files.previous), OLD);
  await discardFiles(files, { previous: true });
  assert.deepEqual(readdirSync(join(files.live, '..')), ['idkit.db']);
});

test('rejects a restore id that would lead out of the directory', () => {
  assert.throws(() => swapFiles('/data/idkit.db', '../x'), { code: 'IDKIT_USAGE' });
});

test('a swap that is killed before any change to the file system leaves a complete database and can be finished or undone', async () => {
  const { calls } = runKilled('swapFile', place(), 0);
  assert.ok(calls !== undefined && calls > 4, `the swap changes the file system ${calls} times`);
  for (let n = 1; n <= calls; n++) {
    const files = place();
    assert.equal(runKilled('swapFile', files, n).calls, undefined, `call ${n} kills`);
    const found = rows(files.live);
    assert.ok([OLD.join(), 'new'].includes(found.join()), `after a kill at call ${n}: ${found}`);
    await swapFile(files);
    assert.deepEqual(rows(files.live), ['new'], `finished after a kill at call ${n}`);
    assert.deepEqual(rows(files.previous), OLD);
    await swapFileBack(files);
    assert.deepEqual(rows(files.live), OLD, `undone after a kill at call ${n}`);
  }
});

test('undoing a swap can be repeated if it is killed before any change to the file system', async () => {
  const ready = place();
  await swapFile(ready);
  const { calls } = runKilled('swapFileBack', ready, 0);
  assert.ok(calls !== undefined && calls > 1);
  for (let n = 1; n <= calls; n++) {
    const files = place();
    await swapFile(files);
    assert.equal(runKilled('swapFileBack', files, n).calls, undefined, `call ${n} kills`);
    await swapFileBack(files);
    assert.deepEqual(rows(files.live), OLD, `repeated after a kill at call ${n}`);
  }
});
