import { spawn } from 'node:child_process';
import { errorMessage, systemErrorCode } from '../../../core/index.ts';
import { readLines } from './read-lines.ts';

/** Time in milliseconds between SIGTERM and SIGKILL. */
const LAST_CHANCE = 5_000;

/** What a hook learns from its environment. */
export type HookFacts = Readonly<Record<`IDKIT_JOB${string}`, string>>;

export interface HookOptions {
  /** The program and its arguments. */
  words: readonly string[];
  facts: HookFacts;
  /** The platform directory, in which the hook runs. */
  dir: string;
  /** The limit in seconds. */
  seconds: number;
  /** The environment of the scheduler, of which the hook gets only the variables that a program needs to run. */
  env: NodeJS.ProcessEnv;
  /** Receives each line of the hook's output. */
  onLine(line: string): void;
  signal: AbortSignal;
  /** Time in milliseconds between SIGTERM and SIGKILL. Default: 5000. */
  lastChance?: number;
}

/** The variables that a hook inherits. None of them is a secret. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'USER', 'LOGNAME'];

/**
 * Runs a hook in a process group of its own. At the limit, or when the scheduler ends, it ends the group. Returns why the
 * hook failed, or undefined if it succeeded. Never throws.
 */
export function runHook(options: HookOptions): Promise<string | undefined> {
  const { words, facts, dir, seconds, signal, onLine, lastChance = LAST_CHANCE } = options;
  const [program = '', ...args] = words;
  if (signal.aborted) return Promise.resolve('the scheduler is ending');
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: dir,
      env: { ...pick(options.env), ...facts },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let ended: string | undefined;
    let killing: NodeJS.Timeout | undefined;
    const end = (why: string) => {
      ended ??= why;
      signalGroup(child.pid, 'SIGTERM');
      killing ??= setTimeout(() => {
        signalGroup(child.pid, 'SIGKILL');
        // A process of another user cannot be ended, and must not hold up the other jobs.
        killing = setTimeout(() => {
          child.unref();
          settle(`${ended}, and it cannot be ended`);
        }, lastChance);
      }, lastChance);
    };
    const limit = setTimeout(() => end(`it ran longer than ${seconds} s`), seconds * 1000);
    const onAbort = () => end('the scheduler is ending');
    signal.addEventListener('abort', onAbort, { once: true });
    for (const stream of [child.stdout, child.stderr]) readLines(stream, onLine);
    const settle = (why: string | undefined) => {
      clearTimeout(limit);
      clearTimeout(killing);
      signal.removeEventListener('abort', onAbort);
      // A program that the hook left behind can keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
      // Those that ignored SIGTERM must not outlive the limit.
      if (ended !== undefined) signalGroup(child.pid, 'SIGKILL');
      resolve(why);
    };
    child.once('error', (error) => settle(systemErrorCode(error) ?? errorMessage(error)));
    child.once('exit', (code, killed) =>
      // The last lines are still in the pipes.
      setImmediate(() => settle(ended ?? (code === 0 ? undefined : describe(code, killed)))),
    );
  });
}

function describe(code: number | null, signal: NodeJS.Signals | null): string {
  return code === null ? `it was ended by ${signal ?? 'a signal'}` : `it ended with the exit code ${code}`;
}

function pick(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
}

/**
 * Sends a signal to every process of a group. A group that has ended counts as signalled, and so does one of another
 * user, for example of a hook that calls sudo: the scheduler must not end because of it.
 */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(systemErrorCode(error) ?? '')) throw error;
  }
}
