import { relative, resolve } from 'node:path';

/** What one test of the run proved. One JSON object a line. */
export interface TestResult {
  /** Below `test/`. */
  file: string;
  title: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** The number of faults that the test injected, which it reports as `injected N faults`. Default: 1. */
  faults: number;
}

interface RunnerEvent {
  type: string;
  data: { name?: string; file?: string; message?: string; skip?: unknown; details?: { type?: string } };
}

const ROOT = resolve(import.meta.dirname, '../..');

/** A reporter of node:test that prints the result of each test as JSON. */
export default async function* report(source: AsyncIterable<RunnerEvent>): AsyncGenerator<string> {
  // The diagnostics of a test follow its result.
  const last = new Map<string, TestResult>();
  for await (const { type, data } of source) {
    const file = data.file === undefined ? '' : relative(ROOT, data.file);
    const faults = /^injected (\d+) faults$/.exec(data.message ?? '')?.[1];
    const before = last.get(file);
    if (type === 'test:diagnostic' && faults !== undefined && before !== undefined)
      before.faults = Number(faults);
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue;
    if (before !== undefined) yield `${JSON.stringify(before)}\n`;
    const outcome = type === 'test:fail' ? 'failed' : data.skip === undefined ? 'passed' : 'skipped';
    last.set(file, { file, title: data.name ?? '', outcome, faults: 1 });
  }
  for (const result of last.values()) yield `${JSON.stringify(result)}\n`;
}
