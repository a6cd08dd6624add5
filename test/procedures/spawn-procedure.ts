import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PASSPHRASE } from './platform.ts';

const KEPT = ['PATH', 'TMPDIR', 'NODE_COMPILE_CACHE'];

/** The result of a procedure that ran in a separate process. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Runs `run-procedure.ts`. `onStep` is called when a step begins, and may kill the process. */
export async function spawnProcedure(
  args: readonly string[],
  onStep?: (step: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ended> {
  const script = join(import.meta.dirname, 'run-procedure.ts');
  const child = spawn(process.execPath, [script, ...args], {
    stdio: 'pipe',
    env: Object.fromEntries(KEPT.map((name) => [name, process.env[name]])),
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(PASSPHRASE.reveal());
  child.stderr.on('data', (chunk: Buffer) => {
    for (const [, step] of chunk.toString().matchAll(/^step (\S+)$/gm)) {
      onStep?.(step!, (signal) => child.kill(signal));
    }
  });
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, signal, stdout, stderr };
}
