import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { LoadOrder, LoadResult } from './load.ts';

/** The CPU core for the measured program. */
export const SERVER_CORE = 0;
/** The CPU core for the program that sends the load. */
export const LOAD_CORE = 1;

const here = (name: string) => new URL(name, import.meta.url).pathname;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Starts a program on one core, or on several, written as for `taskset -c`. */
export function startPinned(
  core: number | string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn('taskset', ['-c', String(core), command, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a program on one core and returns its standard output. @throws Error if it fails */
export async function runPinned(
  core: number,
  command: string,
  args: readonly string[],
  input = '',
): Promise<string> {
  const child = spawn('taskset', ['-c', String(core), command, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  return output;
}

/** Sends load from a separate core, whatever the responses are. */
export async function tryLoad(order: LoadOrder): Promise<LoadResult> {
  const output = await runPinned(LOAD_CORE, process.execPath, [here('load.ts')], JSON.stringify(order));
  return JSON.parse(output) as LoadResult;
}

/**
 * Sends load from a separate core.
 *
 * @throws Error for any response other than 200
 */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const result = await tryLoad(order);
  if (result.not200 > 0) {
    throw new Error(`${result.not200} of ${result.requests} answers were not 200: ${result.firstRefusal}`);
  }
  return result;
}

/** Returns how many signatures or hashes per second the server's core computes without a service. */
export async function baseline(...args: string[]): Promise<number> {
  const output = await runPinned(SERVER_CORE, process.execPath, [here('baseline-crypto.ts'), ...args]);
  return (JSON.parse(output) as { perSecond: number }).perSecond;
}

/** Parses the first line that a program prints. */
export async function firstLine<T>(child: ChildProcess): Promise<T> {
  if (!child.stdout) throw new Error('no standard output');
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as T;
  throw new Error('ended without a line');
}

/** Stops a program that this benchmark started. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Returns the resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const status = execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' });
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Returns the duration of `run` in seconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}
