import { spawn, spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { hasProgram } from '../interop/system-program.ts';
import { waitUntil } from '../wait-until.ts';

/** A program that runs on a real terminal of the kernel. */
export interface PseudoTerminal {
  /** Types text. Enter is `\r`, Tab is `\t`. */
  type(text: string): void;
  /** Changes the width, like a window manager, and notifies the program. */
  resize(columns: number): void;
  /** Returns everything that the program has printed, with control sequences. */
  raw(): string;
  /** Waits until the printed text without control sequences matches, and returns the text after `from` characters. */
  waitFor(what: string, pattern: RegExp, from?: number): Promise<string>;
  /** Returns the printed text without control sequences. */
  text(): string;
  /** Resolves with the exit code of the program. */
  ended: Promise<number | null>;
}

/** Returns whether the machine can make pseudo-terminals. If not, skips the test. */
export function hasTerminals(t: TestContext): boolean {
  return hasProgram(t, 'script');
}

/** Runs a shell command line on a new terminal, with `script` of util-linux. Ends it after the test. */
export async function openPseudoTerminal(
  t: TestContext,
  commandLine: string,
  options: { columns: number; cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<PseudoTerminal> {
  const { columns, cwd, env } = options;
  const setUp = `stty cols ${columns} rows 24; tty; ${commandLine}`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', setUp, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: cwd, TERM: 'xterm', LANG: 'C.UTF-8', SHELL: '/bin/sh', ...env },
    ...(cwd === undefined ? {} : { cwd }),
    // When the test ends the program, script reports it on stderr.
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill());
  // The program may end before everything is typed.
  child.stdin.on('error', () => undefined);
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    raw += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const device = await waitUntil('the terminal opens', () => /^(\/dev\/\S+)\r\n/.exec(raw)?.[1], {
    seen: () => raw,
  });
  const begin = raw.indexOf('\n') + 1;
  const text = () => stripVTControlCharacters(raw.slice(begin));
  return {
    type: (typed) => void child.stdin.write(typed),
    resize: (to) => void spawnSync('stty', ['-F', device, 'cols', String(to)]),
    raw: () => raw.slice(begin),
    text,
    waitFor: (what, pattern, from = 0) =>
      waitUntil(what, () => (pattern.test(text().slice(from)) ? text().slice(from) : undefined), {
        seen: text,
      }),
    ended,
  };
}
