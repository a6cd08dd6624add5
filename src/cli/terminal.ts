import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { IdkitError, systemErrorCode } from '../core/index.ts';
import { printable } from './output/output.ts';

/** The three streams of the process, and what is known of them. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream & { isTTY?: boolean };
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  /** A person can be asked: stdin and stderr are a terminal. */
  readonly canAsk: boolean;
}

/** The process's own streams. A reader that goes away (`| head`) ends the output, never the work. */
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
    // Node.js opens its stdin when it is first looked at, and most commands never do.
    get stdin() {
      return streams.stdin;
    },
    get canAsk() {
      return stderr.isTTY === true && streams.stdin.isTTY === true;
    },
  };
}

/** Lines that were typed ahead of their question, by the stream that they came from. */
const typedAhead = new WeakMap<object, string[]>();

/** Asks on the terminal; the question goes to stderr. With `hidden` nothing that is typed is shown. */
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
      end(() => reject(new IdkitError('IDKIT_INTERRUPTED', 'interrupted at the question')));
    reader.on('line', (line) => {
      lines.push(line);
      // What came in the same piece belongs to the next question, so the reader closes after it.
      if (lines.length > 1) return;
      setImmediate(() => {
        const [answer = '', ...rest] = lines;
        typedAhead.set(terminal.stdin, [...(typedAhead.get(terminal.stdin) ?? []), ...rest]);
        end(() => resolve(answer));
      });
    });
    // The terminal is in raw mode, so Ctrl-C comes as a key; Ctrl-D closes.
    reader.once('SIGINT', interrupted);
    reader.once('close', () => {
      if (lines.length === 0) interrupted();
    });
  });
}

/** True where the person answers `y` or `yes`. */
export async function confirm(terminal: Terminal, question: string, signal: AbortSignal): Promise<boolean> {
  const answer = await ask(terminal, `${question} [y/N] `, { hidden: false, signal });
  return /^y(es)?$/i.test(answer.trim());
}

const MAX_STDIN_BYTES = 1_048_576;

/** The first line of stdin without its end. @throws IDKIT_USAGE where there is none, or it is too long */
export async function readFirstLine(terminal: Terminal, what: string): Promise<string> {
  let text = '';
  for await (const chunk of terminal.stdin) {
    text += String(chunk);
    if (text.includes('\n')) break;
    if (text.length > MAX_STDIN_BYTES) throw new IdkitError('IDKIT_USAGE', `${what} on stdin is too long`);
  }
  const line = text.split(/\r?\n/)[0]!;
  if (line === '') throw new IdkitError('IDKIT_USAGE', `${what} is expected on stdin, and it is empty`);
  return line;
}
