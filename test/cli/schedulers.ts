import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { findJobRecord, type JobRecord, putJobRecord } from '../../src/backupset/index.ts';
import { initPlatform } from '../../src/config/index.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { makeDirectory } from './run.ts';

const OFF = ['realms', 'config', 'env', 'retention', 'verify', 'drill'].map((job) => `${job}: "off"`);

/** A running scheduler. */
export interface Started {
  child: ChildProcess;
  /** The exit code, and what the process wrote. */
  ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
}

/** Starts `idkit schedule run`. */
export function start(dir: string, argv: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
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
export async function makeDue(t: TestContext, lines: readonly string[]): Promise<string> {
  const dir = join(makeDirectory(t), 'idkit');
  initPlatform(dir, { env: {} });
  writeFileSync(
    join(dir, 'idkit.yaml'),
    `schedule:\n${[...OFF, 'jitterSeconds: 0', ...lines].map((line) => `  ${line}\n`).join('')}`,
  );
  return dir;
}

/** Reads what is stored of a job. */
export const record = (dir: string, job: string): Promise<JobRecord | undefined> =>
  findJobRecord(join(dir, 'backups'), job);

/** Stores that a job last ran long ago. */
export async function makeOld(dir: string, job: string): Promise<void> {
  mkdirSync(join(dir, 'backups'), { recursive: true });
  const done = ['2026-01-01T02:00:00.000Z'];
  await putJobRecord(join(dir, 'backups'), job, { done, expectedBy: '2026-01-02T03:00:00.000Z' });
}

/** Waits for a hook that writes the number of its process to the file `hook`, and returns the number. */
export function hookOf(dir: string): Promise<number> {
  return waitUntil('the hook runs', async () => Number(readOrEmpty(join(dir, 'hook'))) || undefined);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
