import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ownDirectory } from '../../../config/index.ts';
import {
  ERROR_CATALOGUE,
  type ErrorCode,
  type ExitCode,
  IdkitError,
  jsonFields,
} from '../../../core/index.ts';
import type { Finding, Reporter } from '../../run.ts';
import { readLines } from './read-lines.ts';

/** The result of a command of idkit that ran as a process of its own. */
export interface CommandResult {
  /** 0, 3 with findings, or the code of the failure. */
  exitCode: number;
  findings: readonly Finding[];
  failure?: IdkitError;
}

export interface CommandOptions {
  env: NodeJS.ProcessEnv;
  /** Receives the steps, notes and findings of the command. */
  reporter: Reporter;
  /** Receives each line of the command's log. */
  onLine(line: string): void;
  /** Ends the command with SIGTERM, after which it cleans up. */
  signal: AbortSignal;
}

/** Maximum length in characters of a line of JSON: the result can list every set of a root. */
const LONGEST_RESULT = 64 * 1024 * 1024;

/**
 * Runs a command of this idkit, in a process of its own, so that neither its memory nor a crash affects the scheduler.
 * Never throws for a failed command: the result says how it ended.
 */
export function runCommand(words: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { env, signal, onLine } = options;
  const script = fileURLToPath(new URL('bin/idkit.js', ownDirectory()));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...words, '--json', '--no-progress'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches the group of the terminal. A second signal would end the command without its clean-up.
      detached: true,
    });
    const seen: Seen = { findings: [], errors: [] };
    readLines(child.stdout, (line) => readLine(line, seen, options), LONGEST_RESULT);
    readLines(child.stderr, (line) => {
      seen.errors.push(line);
      if (seen.errors.length > 20) seen.errors.shift();
      onLine(line);
    });
    const onAbort = () => child.kill('SIGTERM');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const settle = (code: number, why: string) => {
      signal.removeEventListener('abort', onAbort);
      resolve(judge(code, why, seen));
    };
    child.once('error', (error) => settle(1, error.message));
    child.once('close', (code, killed) =>
      settle(code ?? 1, code === null ? `it was ended by ${killed}` : `it ended with the exit code ${code}`),
    );
  });
}

/** What the command has reported so far. */
interface Seen {
  findings: Finding[];
  /** The last lines on stderr. */
  errors: string[];
  failure?: IdkitError;
}

function judge(exitCode: number, why: string, { findings, errors, failure }: Seen): CommandResult {
  if (exitCode === 0 || (exitCode === 3 && failure === undefined)) return { exitCode, findings };
  // Without a result line, the process crashed.
  const [last = why] = errors.slice(-1);
  const unknown = () =>
    new IdkitError('IDKIT_FAILED', `the command failed: ${last === why ? why : `${why}: ${last}`}`);
  return { exitCode, findings, failure: failure ?? unknown() };
}

/** Reads one line of a command's JSON output (docs/reference/commands.md). */
function readLine(line: string, seen: Seen, { reporter, onLine }: CommandOptions): void {
  const event = parseLine(line);
  const text = (name: string) => (typeof event[name] === 'string' ? event[name] : '');
  switch (event['type']) {
    case 'step':
      reportStep(event, reporter, onLine);
      return;
    case 'note':
      reporter.note(text('message'));
      onLine(`note: ${text('message')}`);
      return;
    case 'finding': {
      const finding = { code: text('code'), message: text('message') };
      seen.findings.push(finding);
      reporter.finding(finding);
      onLine(`finding: ${finding.message}`);
      return;
    }
    case 'result': {
      const { code, message, hints } = jsonFields(event['error']);
      if (isErrorCode(code))
        seen.failure = new IdkitError(code, String(message), {
          hints: Array.isArray(hints) ? hints.map(String) : [],
        });
      return;
    }
    default:
      onLine(line);
  }
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return jsonFields(JSON.parse(line));
  } catch {
    return {};
  }
}

function reportStep(
  event: Record<string, unknown>,
  reporter: Reporter,
  onLine: (line: string) => void,
): void {
  const { id, title, state, number, of, milliseconds, summary, within } = event;
  const step = {
    id: String(id),
    ...(Array.isArray(within) ? { within: within.map(String) } : {}),
  };
  const taken = Number(milliseconds);
  if (state === 'started') {
    const place = typeof number === 'number' && typeof of === 'number' ? { number, of } : {};
    reporter.stepStarted({ ...step, title: String(title), ...place });
    onLine(String(title));
  } else if (state === 'finished') {
    const shown = typeof summary === 'string' ? { summary } : {};
    reporter.stepFinished({ ...step, milliseconds: taken, ...shown });
    onLine(`${step.id}: done in ${taken} ms${typeof summary === 'string' ? `, ${summary}` : ''}`);
  } else if (state === 'failed') {
    reporter.stepFailed({ ...step, milliseconds: taken });
    onLine(`${step.id}: failed after ${taken} ms`);
  }
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code);
}

/** Returns the exit code of a job as a code of the contract. */
export function exitCodeOf({ exitCode, failure }: CommandResult): ExitCode | number {
  return failure?.exitCode ?? exitCode;
}
