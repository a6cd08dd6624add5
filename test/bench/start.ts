import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Effort, Measured } from './grants.ts';
import { median, SERVER_CORE, startPinned, stop } from './measure.ts';
import { type Entry, freePort, makeDirectory, removeDirectory, startService, untilReady } from './service.ts';

/** Returns the time in milliseconds that `node -e 0` takes on the server's core. */
async function nothing(): Promise<number> {
  const start = performance.now();
  const child = spawn('taskset', ['-c', String(SERVER_CORE), process.execPath, '-e', '0']);
  await once(child, 'exit');
  return performance.now() - start;
}

/** Returns the time in milliseconds until `/health/ready` first responds with 200. */
async function ready(entry: Entry, dir: string): Promise<number> {
  const port = await freePort();
  const start = performance.now();
  const child = startPinned(SERVER_CORE, entry.command, [
    ...entry.args,
    'serve',
    '--dir',
    dir,
    '--port',
    String(port),
  ]);
  child.stdout?.resume();
  child.stderr?.resume();
  await untilReady(port, child, [], 1);
  const taken = performance.now() - start;
  await stop(child);
  return taken;
}

/** Measures how long the second start of the built package takes until it is ready, relative to `node -e 0`. */
export async function measureStart(entry: Entry, effort: Effort): Promise<Measured> {
  const dir = makeDirectory();
  try {
    const first = await startService(entry, dir);
    await first.stop();
    await ready(entry, dir);
    const ratios: number[] = [];
    const times: number[] = [];
    for (let round = 0; round < effort.rounds * 3; round += 1) {
      const bare = await nothing();
      const taken = await ready(entry, dir);
      ratios.push(taken / bare);
      times.push(taken);
    }
    return {
      row: 'start to ready / node -e 0',
      ratio: median(ratios),
      detail: `${Math.round(median(times))} ms`,
    };
  } finally {
    removeDirectory(dir);
  }
}
