import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../client/example-realm.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** An example that runs. */
export interface RunningExample {
  /** What it wrote so far, both outputs. */
  output(): string;
  /** The first match of what it writes, once it does. */
  told(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/** Starts an example of the checkout as README says. It ends with the test. */
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
    async told(pattern) {
      await until(
        () => pattern.test(text),
        () => `${file} writes ${pattern}; it wrote: ${text}`,
      );
      return pattern.exec(text)!;
    },
    ended,
  };
}
