import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import type { CommandRow } from '../../src/cli/index.ts';
import { loadRunCli } from '../program.ts';

const runCli = await loadRunCli();

/** The result of a command line. */
export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** Returns the lines of stdout, parsed as JSON. */
  json(): readonly Record<string, unknown>[];
  /** Returns the last line of stdout, parsed as JSON. */
  result(): Record<string, unknown>;
}

interface RunOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  stdin?: string;
  /** If true, all three streams are terminals. */
  terminal?: boolean;
  /** The width of the terminal. Default: 100. */
  columns?: number;
  /** If true, stdout is not a terminal, even with `terminal`. */
  redirected?: boolean;
  interrupt?: AbortController;
  /** The table of commands. Default: idkit's own. */
  commands?: readonly CommandRow[];
  /** Receives each chunk of stdout and stderr. */
  onOutput?: (text: string) => void;
  /** Receives each chunk of stdout as bytes. */
  onBytes?: (bytes: Buffer) => void;
}

/** Runs a command line in this process, with separate streams. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const stdout = collect(options.onOutput, options.onBytes);
  const stderr = collect(options.onOutput);
  const stdin = options.terminal ? new PassThrough() : Readable.from([options.stdin ?? '']);
  if (options.terminal) {
    Object.assign(stderr.stream, {
      isTTY: true,
      columns: options.columns ?? 100,
      cursorTo() {},
      clearLine() {},
      moveCursor() {},
    });
    Object.assign(stdin, { isTTY: true, setRawMode() {} });
    Object.assign(stdout.stream, { isTTY: options.redirected !== true, columns: options.columns ?? 100 });
    if (options.stdin !== undefined) (stdin as PassThrough).write(options.stdin);
  }
  const io = {
    terminal: {
      stdin,
      stdout: stdout.stream,
      stderr: stderr.stream,
      canAsk: options.terminal === true,
    },
    env: options.env ?? {},
    cwd: options.cwd ?? '/',
    interrupt: options.interrupt ?? new AbortController(),
  };
  const code = await runCli(argv, io, options.commands);
  const json = () =>
    stdout
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    json,
    result: () => json().at(-1)!,
  };
}

function collect(
  onOutput: (text: string) => void = () => {},
  onBytes: (bytes: Buffer) => void = () => {},
): { stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk));
      onOutput(String(chunk));
      onBytes(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

/** Creates an empty directory that is removed after the test. */
export function makeDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-cli-'));
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}
