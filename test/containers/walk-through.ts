import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Example, openShell } from '../docs/console.ts';
import { freePort } from '../free-port.ts';
import type { TestEngine } from './engines.ts';

// Runs the console blocks of docs/operate/containers.md like a reader: in one shell, one command after another.

/** Commands that create the images. The test does not run them, because it has its own images. */
export const NOT_RUN: readonly RegExp[] = [/^npm pack/, /^docker build/];

/** Returns the examples in the page's console blocks for containers, in order. */
export function findContainerExamples(markdown: string): readonly Example[] {
  const blocks = [...markdown.matchAll(/^```console containers\n([\s\S]*?)^```$/gm)].map(
    (match) => match[1]!,
  );
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

/** Runs the examples in `dir` with an engine and returns their output as the page would show it. */
export async function runWalkThrough(
  dir: string,
  engine: TestEngine,
  examples: readonly Example[],
): Promise<readonly (Example & { actual: string })[]> {
  const shell = openShell(dir, engine.env);
  const ports = await findPorts(3);
  const ran: (Example & { actual: string })[] = [];
  try {
    for (const example of examples) {
      if (NOT_RUN.some((pattern) => pattern.test(example.command))) continue;
      const text = await shell.run(example.command.replace(/^docker /, `${engine.kind} `));
      if (/ init\b/.test(example.command)) adapt(join(dir, 'idkit'), engine, ports);
      ran.push({ ...example, actual: text.replaceAll(dir, '/home/you').trimEnd() });
    }
  } finally {
    shell.close();
  }
  return ran;
}

/** Sets the test's own images and free ports instead of the defaults. */
export function adapt(platform: string, engine: TestEngine, ports: readonly number[]): void {
  const [https, service, application, management] = ports;
  const named = { HTTPS: https, SERVICE: service, APPLICATION: application, MANAGEMENT: management };
  const lines = Object.entries(named).flatMap(([name, port]) =>
    port === undefined ? [] : `${name}_PORT=${port}\n`,
  );
  appendFileSync(join(platform, '.env'), `${engine.images}${lines.join('')}`);
  const yaml = join(platform, 'idkit.yaml');
  const text = readFileSync(yaml, 'utf8');
  writeFileSync(yaml, text.replaceAll(':8443', `:${https}`).replaceAll(':8081', `:${application}`));
}

/** Returns distinct ports that are free now. */
export async function findPorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
