import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../wait-until.ts';
import { contradictions, readLedger, restoreWrites } from './archive-restore.ts';

/** How often the service is killed. */
const KILLS = Number(process.env['IDKIT_TEST_KILLS'] ?? 3);
/** Random moments that are restored after each kill. */
const MOMENTS = 5;

const program = new URL('./archive-writer.ts', import.meta.url).pathname;

/** Starts the writer, and returns when it writes. */
async function startWriter(t: TestContext, dir: string, options: object) {
  const child = spawn(process.execPath, [program, dir, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  t.after(() => child.kill('SIGKILL'));
  return { child, ended: once(child, 'exit') };
}

function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-archive-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function stateOf(dir: string) {
  const path = join(dir, 'archive.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

test('after kill -9 at any moment, each second can be restored: every answered write up to it, and none after it', async (t) => {
  const dir = makeDirectory(t);
  const losses: number[] = [];
  let chain: string | undefined;
  for (let kill = 0; kill < KILLS; kill++) {
    const started = Date.now();
    const { child, ended } = await startWriter(t, dir, { from: kill * 1_000_000 });
    const restorable = () => {
      const { base, chain: now } = stateOf(dir) ?? {};
      return base !== undefined && (chain === undefined || now.chain === chain);
    };
    await waitUntil('the base is complete', restorable);
    await sleep(Math.random() * 2_000);
    child.kill('SIGKILL');
    await ended;
    const writes = readLedger(dir);
    const newest = await restoreWrites(dir, { at: Date.now() });
    chain ??= newest.chain;
    assert.equal(newest.chain, chain, 'the chain continues');
    assert.deepEqual(contradictions(writes, newest.found, newest.at), []);
    const answered = [...writes.values()].flatMap((write) => write.answered ?? []);
    // A kill before the first transfer of a run loses nothing of the archive: the next start ships what is in the log.
    if (newest.at > started) losses.push(Math.max(...answered) - newest.at);
    const [first, last] = [stateOf(dir).base.at, newest.at];
    for (let n = 0; n < MOMENTS; n++) {
      const at = Math.floor(first + Math.random() * (last - first));
      const { found } = await restoreWrites(dir, { at });
      assert.deepEqual(contradictions(writes, found, at), [], `the moment ${at} of ${first} to ${last}`);
    }
  }
  const killed = Date.now();
  const { child, ended } = await startWriter(t, dir, { from: KILLS * 1_000_000 });
  await waitUntil('what the killed service left is shipped', () => stateOf(dir).newest > killed);
  child.kill('SIGTERM');
  await ended;
  const { found } = await restoreWrites(dir, { at: killed });
  assert.deepEqual(
    contradictions(readLedger(dir), found, killed),
    [],
    'a start ships what a killed service left',
  );
  t.diagnostic(`${KILLS} kills; answered writes after the newest moment, in ms: ${losses.join(', ')}`);
});

test('without its target, the service continues; then everything is shipped, and no moment is missing', async (t) => {
  const dir = makeDirectory(t);
  const archive = join(dir, 'archive');
  const { child, ended } = await startWriter(t, dir, { from: 0 });
  await waitUntil('the base is complete', () => stateOf(dir)?.base !== undefined);
  renameSync(archive, `${archive}.away`);
  writeFileSync(archive, 'not a directory');
  await waitUntil('the fault is noted', () => stateOf(dir).fault !== undefined);
  const before = readLedger(dir).size;
  await waitUntil('writes continue', () => readLedger(dir).size > before + 200);
  assert.ok(stateOf(dir).behindSince > 0);
  rmSync(archive);
  renameSync(`${archive}.away`, archive);
  await waitUntil('everything is shipped again', () => stateOf(dir).fault === undefined);
  child.kill('SIGTERM');
  await ended;
  const state = stateOf(dir);
  assert.deepEqual(state.gaps, []);
  assert.ok(state.closed);
  const writes = readLedger(dir);
  for (const at of [Date.now(), state.base.at + Math.random() * (state.newest - state.base.at)]) {
    const { found } = await restoreWrites(dir, { at });
    assert.deepEqual(contradictions(writes, found, at), []);
  }
  const event = [...writes.keys()].find((n) => writes.get(n)!.sent > state.base.at + 500)!;
  const { found } = await restoreWrites(dir, { before: `n-${event}` });
  assert.ok(!found.has(event) && found.size > 0, 'the moment before a write');
});

test('a target that stays away until the log is too long costs a gap, which is reported, and a new base begins', async (t) => {
  const dir = makeDirectory(t);
  const archive = join(dir, 'archive');
  const options = { from: 0, lanes: 3, spoolBytes: 6_000_000, padding: 8_000, pause: 80 };
  const { child, ended } = await startWriter(t, dir, options);
  await waitUntil('the base is complete', () => stateOf(dir)?.base !== undefined);
  renameSync(archive, `${archive}.away`);
  writeFileSync(archive, 'not a directory');
  await waitUntil('the fault is noted', () => stateOf(dir).fault !== undefined);
  const last = stateOf(dir).newest;
  await waitUntil('the log is given up', () => stateOf(dir).gaps.length === 1);
  rmSync(archive);
  renameSync(`${archive}.away`, archive);
  await waitUntil('a new base is complete', () => stateOf(dir).gaps[0]?.until !== undefined);
  child.kill('SIGTERM');
  await ended;
  const { gaps, newest } = stateOf(dir);
  assert.equal(gaps.length, 1);
  assert.ok(gaps[0].from >= last);
  const within = Math.floor((gaps[0].from + gaps[0].until) / 2);
  await assert.rejects(restoreWrites(dir, { at: within }), { code: 'IDKIT_DAMAGED' });
  const writes = readLedger(dir);
  for (const at of [gaps[0].from, newest]) {
    const { found } = await restoreWrites(dir, { at });
    assert.deepEqual(contradictions(writes, found, at), []);
  }
});

test('another program that changed the database while the service was stopped leads to a new chain', async (t) => {
  const dir = makeDirectory(t);
  const run = async (from: number) => {
    const { child, ended } = await startWriter(t, dir, { from });
    await waitUntil(
      'the base is complete',
      () => stateOf(dir)?.base !== undefined && stateOf(dir).closed === undefined,
    );
    child.kill('SIGTERM');
    await ended;
    return stateOf(dir);
  };
  const first = await run(0);
  const second = await run(1_000_000);
  assert.equal(second.chain.chain, first.chain.chain, 'an orderly end continues the chain');
  const database = new DatabaseSync(join(dir, 'idkit.db'));
  database.exec("INSERT INTO meta (name, value) VALUES ('by-hand', '1')");
  database.close();
  const third = await run(2_000_000);
  assert.notEqual(third.chain.chain, first.chain.chain);
  const { found } = await restoreWrites(dir, { at: second.newest });
  assert.deepEqual(contradictions(readLedger(dir), found, second.newest), []);
});
