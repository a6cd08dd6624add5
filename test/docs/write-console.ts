import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findExamples, mask, runExamples } from './console.ts';
import { listPages, root } from './pages.ts';

// `node test/docs/write-console.ts` runs the console blocks of all pages and writes the outputs that have changed. An
// output that differs only in volatile values is kept. console.test.ts compares the outputs without writing.

for (const { file, text } of listPages()) {
  const examples = findExamples(text);
  if (examples.length === 0) continue;
  test(`write the console blocks of ${file}`, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'idkit-docs-'));
    after(() => rmSync(dir, { recursive: true, force: true }));
    let page = text;
    for (const { command, output, actual } of await runExamples(t, dir, examples)) {
      if (mask(actual) === mask(output)) continue;
      const show = (shown: string): string => `$ ${command}\n${shown === '' ? '' : `${shown}\n`}`;
      page = page.replace(show(output), () => show(actual.replace(/\b\d{8}_\d{6}\b/g, '20261101_020000')));
    }
    writeFileSync(join(root, file), page);
  });
}
