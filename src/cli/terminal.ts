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

/** Lines that the user typed before the prompt for them, by stream. */
const typedAhead = new WeakMap<object, string[]>();

/** Prompts on the terminal, with the question on stderr. With `hidden` the input is not echoed. */
export function ask(
  terminal: Terminal,
  question: string,
  options: { hidden: boolean; signal: AbortSignal },
): Promise<string> {
  terminal.stderr.write(printable(question));
  const waiting = typedAhead.get(terminal.stdin)?.shift();
  if (waiting !== undefined) {
    terminal.stderr.write('\n');
    return Promise.resolve(waiting);
  }
  return new Promise((resolve, reject) => {
    const reader = createInterface({
      input: terminal.stdin,
      output: options.hidden ? new Writable({ write: (_, __, done) => done() }) : terminal.stderr,
      terminal: true,
      historySize: 0,
    });
    const lines: string[] = [];
    const end = (settle: () => void): void => {
      options.signal.removeEventListener('abort', onAbort);
      reader.removeAllListeners('close');
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
    reader.once('close', () => {
      if (lines.length === 0) interrupted();
    });
  });
}

/** Asks a question and returns true if the answer is `y` or `yes`. */
export async function confirm(terminal: Terminal, question: string, signal: AbortSignal): Promise<boolean> {
  const answer = await ask(terminal, `${question} [y/N] `, { hidden: false, signal });
  return /^y(es)?$/i.test(answer.trim());
}

const MAX_STDIN_BYTES = 1_048_576;

/** Reads the first line of stdin, without the newline. @throws IDKIT_USAGE if it is empty or too long */
export async function readFirstLine(terminal: Terminal, what: string): Promise<string> {
  let text = '';
  for await (const chunk of terminal.stdin) {
    text += String(chunk);
    if (text.includes('\n')) break;
    if (text.length > MAX_STDIN_BYTES)
      throw new IdkitError('IDKIT_USAGE', `${what} on stdin is longer than ${MAX_STDIN_BYTES} characters`);
  }
  const line = text.split(/\r?\n/)[0]!;
  if (line === '') throw new IdkitError('IDKIT_USAGE', `stdin is empty, but must contain ${what}`);
  return line;
}
