import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { findJobRecord, type JobRecord, putJobRecord } from '../../src/backupset/index.ts';
import { initPlatform } from '../../src/config/index.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { makeDirectory } from './run.ts';

/** How many schedulers are killed. */
const KILLS = Number(process.env['IDKIT_TEST_KILLS'] ?? 2);

const OFF = ['realms', 'config', 'env', 'retention', 'verify', 'drill'].map((job) => `${job}: "off"`);

interface Started {
  child: ChildProcess;
  /** The exit code, and what the process wrote. */
  ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
}

function start(dir: string, argv: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const child = spawn(process.execPath, [PROGRAM, '--dir', dir, 'schedule', 'run', ...argv], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]) => ({ code, signal, stdout, stderr }),
  );
  return { child, ended };
}

/** Makes a platform with one job, which is due and fails quickly because the service does not exist yet. */
async function makeDue(t: TestContext, lines: readonly string[]): Promise<string> {
  const dir = join(makeDirectory(t), 'idkit');
  initPlatform(dir, { env: {} });
  writeFileSync(
    join(dir, 'idkit.yaml'),
    `schedule:\n${[...OFF, 'jitterSeconds: 0', ...lines].map((line) => `  ${line}\n`).join('')}`,
  );
  return dir;
}

const record = (dir: string, job: string): Promise<JobRecord | undefined> =>
  findJobRecord(join(dir, 'backups'), job);

/** Stores that a job last ran long ago. */
async function makeOld(dir: string, job: string): Promise<void> {
  mkdirSync(join(dir, 'backups'), { recursive: true });
  const done = ['2026-01-01T02:00:00.000Z'];
  await putJobRecord(join(dir, 'backups'), job, { done, expectedBy: '2026-01-02T03:00:00.000Z' });
}

test('of several schedulers that start together, exactly one runs a job that is due', async (t) => {
  const dir = await makeDue(t, ['database: "0 2 * * *"', 'hooks: { before: [sh, -c, "echo x >> ran"] }']);
  await makeOld(dir, 'backup-database');
  const all = Array.from({ length: 4 }, () => start(dir, ['--once', '--json']));
  const results = await Promise.all(all.map(({ ended }) => ended));
  const jobs = results.flatMap(
    ({ stdout }) => JSON.parse(stdout.trim().split('\n').at(-1)!).jobs as { job: string }[],
  );
  assert.deepEqual([jobs.length, readFileSync(join(dir, 'ran'), 'utf8')], [1, 'x\n']);
  // Without a passphrase, the backup fails. Only the scheduler that ran it reports so.
  assert.deepEqual(results.map(({ code }) => code).sort(), [0, 0, 0, 2]);
  const kept = await record(dir, 'backup-database');
  assert.equal(kept?.last?.exitCode, 2);
  const again = await start(dir, ['--once']).ended;
  assert.deepEqual([again.code, again.stdout], [0, 'no job is due\n']);
});

test('SIGTERM ends a scheduler and its running job, which is not counted as done', async (t) => {
  const dir = await makeDue(t, [
    'database: "0 2 * * *"',
    'hooks: { before: [sh, -c, "echo $$ > hook; sleep 300"] }',
  ]);
  await makeOld(dir, 'backup-database');
  const { child, ended } = start(dir, []);
  const hook = await waitUntil(
    'the hook runs',
    async () => Number(readOrEmpty(join(dir, 'hook'))) || undefined,
  );
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.throws(() => process.kill(hook, 0), { code: 'ESRCH' });
  const kept = await record(dir, 'backup-database');
  assert.deepEqual([kept?.last, kept?.begun, kept?.done.length], [undefined, undefined, 1]);
});

test(`after kill -9 of a scheduler during a job, the next one runs the job once (${KILLS} times)`, async (t) => {
  const dir = await makeDue(t, [
    'database: "0 2 * * *"',
    'hooks: { before: [sh, -c, "echo $$ > hook; sleep 1"] }',
  ]);
  for (let kill = 0; kill < KILLS; kill++) {
    await makeOld(dir, 'backup-database');
    writeFileSync(join(dir, 'hook'), '');
    const { child, ended } = start(dir, []);
    await waitUntil('the hook runs', async () => Number(readOrEmpty(join(dir, 'hook'))) || undefined);
    child.kill('SIGKILL');
    await ended;
    assert.equal((await record(dir, 'backup-database'))?.begun?.count, 1);
    const next = await start(dir, ['--once', '--json']).ended;
    assert.equal(JSON.parse(next.stdout.trim().split('\n').at(-1)!).jobs.length, 1, next.stderr);
    assert.equal((await start(dir, ['--once']).ended).stdout, 'no job is due\n');
  }
});

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
