import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findExamples, mask, runExamples } from './console.ts';

// `node test/docs/write-console.ts` runs README's console blocks and writes what changed below each command;
// console.test.ts only compares. What differs in volatile values alone stays as it is.

const file = new URL('../../README.md', import.meta.url);
const dir = mkdtempSync(join(tmpdir(), 'idkit-readme-'));
after(() => rmSync(dir, { recursive: true, force: true }));

test('write the console blocks', async (t) => {
  let readme = readFileSync(file, 'utf8');
  for (const { command, output, actual } of await runExamples(t, dir, findExamples(readme))) {
    if (mask(actual) === mask(output)) continue;
    const show = (text: string): string => `$ ${command}\n${text === '' ? '' : `${text}\n`}`;
    readme = readme.replace(show(output), () => show(actual.replace(/\b\d{8}_\d{6}\b/g, '20261101_020000')));
  }
  writeFileSync(file, readme);
});
