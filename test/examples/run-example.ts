import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../client/example-realm.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A running example. */
export interface RunningExample {
  /** Returns what the example has written to stdout and stderr so far. */
  output(): string;
  /** Waits until the output matches the pattern, and returns the first match. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/** Starts an example of this repository as the documentation describes. The example stops when the test ends. */
export function runExample(t: TestContext, file: string, env: Record<string, string>): RunningExample {
  const child = spawn(process.execPath, ['--conditions=idkit-source', `examples/${file}`], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  t.after(async () => {
    child.kill();
    await ended;
  });
  return {
    output: () => text,
    async printed(pattern) {
      await until(
        () => pattern.test(text),
        () => `${file} prints ${pattern}; it printed: ${text}`,
      );
      return pattern.exec(text)!;
    },
    ended,
  };
}
