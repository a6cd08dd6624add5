import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    const { child, ended } = await startWriter(t, dir, { from: kill * 1_000_000 });
    const restorable = () => {
      const { base, chain: now } = stateOf(dir) ?? {};
      return base !== undefined && (chain === undefined || now.chain === chain);
    };
    await waitUntil('the base is complete', restorable);
    await sleep(Math.random() * 3_000);
    child.kill('SIGKILL');
    await ended;
    const writes = readLedger(dir);
    const newest = await restoreWrites(dir, { at: Date.now() });
    chain ??= newest.chain;
    assert.equal(newest.chain, chain, 'the chain continues');
    assert.deepEqual(contradictions(writes, newest.found, newest.at), []);
    const answered = [...writes.values()].flatMap((write) => write.answered ?? []);
    losses.push(Math.max(...answered) - newest.at);
    const [first, last] = [stateOf(dir).base.at, newest.at];
    for (let n = 0; n < MOMENTS; n++) {
      const at = Math.floor(first + Math.random() * (last - first));
      const { found } = await restoreWrites(dir, { at });
      assert.deepEqual(contradictions(writes, found, at), [], `the moment ${at} of ${first} to ${last}`);
    }
  }
  const killed = Date.now();
  const { child, ended } = await startWriter(t, dir, { from: KILLS * 1_000_000, writes: 0 });
  child.kill('SIGTERM');
  await ended;
  const { found } = await restoreWrites(dir, { at: killed });
  assert.deepEqual(
    contradictions(readLedger(dir), found, killed),
    [],
    'a start ships what a killed service left',
  );
  t.diagnostic(`${KILLS} kills; answered writes after the newest moment: at most ${Math.max(...losses)} ms`);
});
