import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { runCli } from '../src/cli/index.ts';
import type { IdkitError } from '../src/core/index.ts';
import { waitUntil } from './wait-until.ts';

// Runs the idkit under test: the one in this checkout, or an installed package if IDKIT_TEST_PROGRAM is the path of its
// bin.

const { IDKIT_TEST_PROGRAM: given } = process.env;

/** The absolute path of `bin/idkit.js`. */
export const PROGRAM =
  given === undefined ? fileURLToPath(new URL('../bin/idkit.js', import.meta.url)) : realpathSync(given);

/** True if `PROGRAM` is an installed package, which runs from `dist`. */
export const isInstalled = given !== undefined;

/**
 * Returns `runCli` of the program under test.
 *
 * @throws Error if IDKIT_TEST_PROGRAM does not name a package
 */
export async function loadRunCli(): Promise<typeof runCli> {
  return (await loadProgram()).runCli;
}

/**
 * Returns the error class of the program under test. The program does not recognize errors of another copy of the class.
 *
 * @throws as `loadRunCli`
 */
export async function loadIdkitError(): Promise<typeof IdkitError> {
  return (await loadProgram()).IdkitError;
}

async function loadProgram(): Promise<{ runCli: typeof runCli; IdkitError: typeof IdkitError }> {
  if (!isInstalled)
    return { ...(await import('../src/cli/index.ts')), ...(await import('../src/core/index.ts')) };
  const main = join(dirname(PROGRAM), '../dist/main.js');
  if (!existsSync(main)) throw new Error(`IDKIT_TEST_PROGRAM is ${given}, but ${main} does not exist`);
  return import(main);
}

/** A running `idkit serve`. */
export interface SpawnedService {
  address: string;
  stop(): Promise<void>;
}

/** Starts `idkit serve` on a platform directory and a free port. Resolves when it is ready. */
export async function spawnService(
  dir: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<SpawnedService> {
  const args = ['serve', '--dir', dir, '--port', '0', '--management-port', '0', ...argv];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const address = await waitUntil(
    'serve logs its address',
    () => {
      if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${output}`);
      return /"address":"([^"]+)"/.exec(output)?.[1];
    },
    { seconds: 120, seen: () => output },
  );
  return {
    address,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
