import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext } from 'node:test';
import type { Settings } from '../../src/config/index.ts';
import { PASSPHRASE } from '../procedures/platform.ts';
import { describeOnPostgres, type PostgresPlatforms } from '../procedures/postgres-platform.ts';
import { changedSinceBackup, readState, type State } from '../procedures/restored-state.ts';
import { PROGRAM } from '../program.ts';

/** A stopped platform that has changed since its backup. */
export interface FaultPlatform {
  dir: string;
  /** The backup root. */
  root: string;
  /** The directory of its set. */
  set: string;
  load(): Promise<Settings>;
  readState(): Promise<State>;
}

/** Gives a test of one fault a new platform of each kind. */
export interface Databases {
  kind: 'SQLite' | 'Postgres';
  fresh(t: TestContext): Promise<FaultPlatform>;
  /** The server, on Postgres. */
  server?: PostgresPlatforms['server'];
}

/** Like `describe`, once on SQLite and once on Postgres. The titles of the tests must contain `kind`. */
export function describeOnEachDatabase(title: string, define: (databases: Databases) => void): void {
  describe(`${title} (SQLite)`, () => {
    define({
      kind: 'SQLite',
      async fresh(t) {
        const { platform, set } = await changedSinceBackup(t);
        const { dir } = platform;
        return {
          dir,
          root: join(dir, 'backups'),
          set: set.dir,
          load: () => platform.load(),
          readState: () => readState(dir),
        };
      },
    });
  });
  describeOnPostgres(`${title} (Postgres)`, (platforms) => {
    define({
      kind: 'Postgres',
      get server() {
        return platforms.server;
      },
      async fresh(t) {
        const { dir, set, load, readState: read } = await platforms.fresh(t);
        return { dir, root: join(dir, 'backups'), set, load: () => load(), readState: read };
      },
    });
  });
}

/** The end of a program. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A running `idkit`. */
export interface RunningProgram {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

/** Starts the program under test in a platform directory, without a terminal. */
export function startProgram(
  dir: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): RunningProgram {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--dir', dir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TMPDIR: process.env['TMPDIR'],
      IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal(),
      ...env,
    },
  });
  const ended = Promise.all([
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
    text(child.stdout),
    text(child.stderr),
  ]).then(([[code, signal], stdout, stderr]) => ({ code, signal, stdout, stderr }));
  return { pid: child.pid!, kill: (signal) => child.kill(signal), ended };
}

/** Runs the program under test to its end. */
export function runProgram(dir: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended> {
  return startProgram(dir, args, env).ended;
}

/** Lists the names in a backup root that look like sets. */
export async function listSetNames(root: string): Promise<readonly string[]> {
  return (await readdir(root)).filter((name) => /^\d{8}_\d{6}$/.test(name)).sort();
}

/** Returns the files below a directory that contain a text. */
export async function filesWith(dir: string, searched: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path)).includes(searched)) found.push(path);
  }
  return found;
}
