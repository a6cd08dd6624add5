import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import { printable } from './output/output.ts';

/** The standard streams of the process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /** True if both stdin and stderr are a terminal, so that a command can prompt. */
  readonly canAsk: boolean;
}

/**
 * Opens the standard streams of the process. If the reader closes its end (`| head`), the output stops but the work
 * continues.
 */
export function openTerminal(streams: Pick<Terminal, 'stdin' | 'stdout' | 'stderr'> = process): Terminal {
  const { stdout, stderr } = streams;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error) => {
      if (systemErrorCode(error) !== 'EPIPE') throw error;
    });
  }
  return {
    stdout,
    stderr,
    // Node.js opens stdin at the first access. Most commands never read it.
    get stdin() {
      return streams.stdin;
    },
    get canAsk() {
      return stderr.isTTY === true && streams.stdin.isTTY === true;
    },
  };
}

/** The widest text in characters, because longer lines are hard to read. */
const WIDEST_TEXT = 120;
/** The width of text in a file or a pipe. */
const WIDTH_OFF_TERMINAL = 100;

/** Returns the number of columns of stdout, or undefined if it is not a terminal. */
export function terminalWidth({ stdout }: Pick<Terminal, 'stdout'>): number | undefined {
  // Some pseudo-terminals report 0 columns.
  return stdout.isTTY === true ? stdout.columns || 80 : undefined;
}

/** Returns the width in characters of text on stdout, which follows the terminal. */
export function textWidth({ stdout }: Terminal): number {
  if (stdout.isTTY !== true) return WIDTH_OFF_TERMINAL;
  // Some pseudo-terminals report 0 columns.
  return Math.min(WIDEST_TEXT, stdout.columns || 80);
}

/** Lines that the user typed before the prompt for them, by stream. */
const typedAhead = new WeakMap<object, string[]>();

/** Prompts on the terminal, with the question on stderr. With `hidden` the input is not echoed. */
export function ask(
  terminal: Terminal,
  question: string,
  options: { hidden: boolean; signal: AbortSignal },
): Promise<string> {
  const waiting = typedAhead.get(terminal.stdin)?.shift();
  if (waiting !== undefined) {
    terminal.stderr.write(printable(`${question}\n`));
    return Promise.resolve(waiting);
  }
  return new Promise((resolve, reject) => {
    const reader = createInterface({
      input: terminal.stdin,
      output: options.hidden ? new Writable({ write: (_, __, done) => done() }) : terminal.stderr,
      terminal: true,
      historySize: 0,
    });
    // Only now, because the terminal echoes what is typed until the reader has switched that off.
    terminal.stderr.write(printable(question));
    const lines: string[] = [];
    const end = (settle: () => void): void => {
      options.signal.removeEventListener('abort', onAbort);
      reader.removeListener('close', onClose);
      reader.close();
      if (options.hidden) terminal.stderr.write('\n');
      settle();
    };
    const onAbort = (): void => end(() => reject(options.signal.reason));
    options.signal.addEventListener('abort', onAbort, { once: true });
    const interrupted = (): void =>
      end(() => reject(new IdkitError('IDKIT_INTERRUPTED', 'interrupted at the prompt')));
    reader.on('line', (line) => {
      lines.push(line);
      // Keep the reader open until all lines of this chunk have arrived. Further lines answer the next question.
      if (lines.length > 1) return;
      setImmediate(() => {
        const [answer = '', ...rest] = lines;
        typedAhead.set(terminal.stdin, [...(typedAhead.get(terminal.stdin) ?? []), ...rest]);
        end(() => resolve(answer));
      });
    });
    // In raw mode Ctrl-C arrives as a key, and Ctrl-D closes the stream.
    reader.once('SIGINT', interrupted);
    const onClose = (): void => {
      if (lines.length === 0) interrupted();
    };
    reader.once('close', onClose);
  });
}

/** Asks a question and returns true if the answer is `y` or `yes`. */
export async function confirm(terminal: Terminal, question: string, signal: AbortSignal): Promise<boolean> {
  const answer = await ask(terminal, `${question} [y/N] `, { hidden: false, signal });
  return /^y(es)?$/i.test(answer.trim());
}

/**
 * Returns the environment for a program of the user, such as a browser or an editor, without idkit's own variables:
 * some contain secrets, and the program may keep running.
 */
export function withoutOwnVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('IDKIT_')));
}

const MAX_STDIN_BYTES = 1_048_576;

/**
 * Writes text and waits until the stream has passed it on, so that a slow reader slows the command down.
 *
 * @returns false if the reader has closed its end (`| head`)
 */
export function writeText(stream: NodeJS.WritableStream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(printable(text), (error) => resolve(error === undefined || error === null));
  });
}

/** Reads the first lines of stdin, at most `count`, without the newlines. @throws IDKIT_USAGE if they are too long */
export async function readLines(terminal: Terminal, count: number, what: string): Promise<readonly string[]> {
  let text = '';
  for await (const chunk of terminal.stdin) {
    text += String(chunk);
    if (text.split('\n').length > count) break;
    if (text.length > MAX_STDIN_BYTES)
      throw new IdkitError('IDKIT_USAGE', `${what} on stdin is longer than ${MAX_STDIN_BYTES} characters`);
  }
  return text.split(/\r?\n/).slice(0, count);
}

/** Reads the first line of stdin, without the newline. @throws IDKIT_USAGE if it is empty or too long */
export async function readFirstLine(terminal: Terminal, what: string): Promise<string> {
  const [line = ''] = await readLines(terminal, 1, what);
  if (line === '') throw new IdkitError('IDKIT_USAGE', `stdin is empty, but must contain ${what}`);
  return line;
}
