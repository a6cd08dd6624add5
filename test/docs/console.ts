import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { BIN, startIdkit } from '../journey/idkit.ts';

// Runs the console blocks of a page like a reader: in one shell, one command after another, with a `serve` that runs
// until the page stops it.

/** A command after `$ ` in a console block, and the output that the page shows for it. */
export interface Example {
  command: string;
  output: string;
}

/** Commands that the test does not run as written, with the reason. Every other command is run and compared. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci && npx idkit serve': 'runs in the foreground; the test itself starts the same serve on a free port',
};

/** Commands that need a stopped `serve`. */
const NEEDS_STOPPED = /^npx idkit restore/;

/** Returns the examples in a Markdown text, in order. */
export function findExamples(markdown: string): readonly Example[] {
  const blocks = [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...rest] = text.split('\n');
        return { command, output: rest.join('\n').trimEnd() };
      }),
  );
}

/** Runs the examples in a new directory and returns their output as the page would show it. */
export async function runExamples(
  t: TestContext,
  dir: string,
  examples: readonly Example[],
): Promise<readonly (Example & { actual: string })[]> {
  const service = await startIdkit(t, { cwd: dir });
  const shell = openShell(dir);
  t.after(() => shell.close());
  const ran: (Example & { actual: string })[] = [];
  for (const example of examples) {
    if (example.command in NOT_RUN) continue;
    if (NEEDS_STOPPED.test(example.command)) await service.stop();
    const command = example.command.replaceAll('http://127.0.0.1:8080', service.address);
    const text = await shell.run(command);
    const actual = text
      .replaceAll(service.address, 'http://127.0.0.1:8080')
      .replaceAll(dir, '/home/you')
      .trimEnd();
    ran.push({ ...example, actual });
  }
  return ran;
}

/** Masks values that differ between runs: times, durations, sizes, identifiers. */
export function mask(text: string): string {
  return text
    .replace(/\b\d{8}_\d{6}\b/g, '<set>')
    .replace(/\b\d+(\.\d+)? (kB|MB|GB|B)\b/g, '<size>')
    .replace(/\b\d+(\.\d+)? ?(ms|s|min|h)\b( \d+ (s|min)\b)?/g, '<time>')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<date>')
    .replace(/\bkey [\w-]{20,}/g, 'key <id>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replace(/ {2,}/g, '  ');
}

export interface Shell {
  /** Runs one command and returns its standard output and standard error in the order in which they were written. */
  run(command: string): Promise<string>;
  close(): void;
}

/** Starts a bash that keeps its variables from one command to the next. */
export function openShell(dir: string, env: Readonly<Record<string, string>> = {}): Shell {
  const own = Object.entries(process.env).filter(([name]) => !/^(IDKIT_|NODE_TEST|npm_)/.test(name));
  const child: ChildProcess = spawn('bash', ['--noprofile', '--norc'], {
    cwd: dir,
    env: { ...Object.fromEntries(own), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  let ended = false;
  let wake = (): void => {};
  child.stdout!.on('data', (chunk) => {
    text += chunk;
    wake();
  });
  child.on('close', () => {
    ended = true;
    wake();
  });
  child.stdin!.write(`exec 2>&1\nnpx() { shift; '${process.execPath}' '${BIN}' "$@" </dev/null; }\n`);
  return {
    async run(command) {
      const mark = `--end-of-command-${text.length}--`;
      const from = text.length;
      child.stdin!.write(`${command}\necho '${mark}'\n`);
      while (!text.includes(mark, from)) {
        if (ended) throw new Error(`the shell ended in ${command}: ${text.slice(from)}`);
        let late: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve, reject) => {
          wake = resolve;
          const fail = () =>
            reject(new Error(`${command} printed nothing for ten minutes: ${text.slice(from)}`));
          late = setTimeout(fail, 600_000);
        });
        clearTimeout(late);
      }
      const end = text.indexOf(mark, from);
      return text.slice(from, end).replace(/^\n/, '');
    },
    close: () => {
      child.kill();
    },
  };
}
