import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listPages, root, type Section, sectionsOf } from './pages.ts';

// Checks the pages whose sections contain rules. Each section ends with a paragraph "Decided in:", which names the files
// in which a maintainer can change these rules.

const HOLDS_RULES = /^docs\/(?:keycloak\/|reference\/(?!index\.md))/;

const sections = listPages()
  .filter(({ file }) => HOLDS_RULES.test(file))
  .flatMap((page) => sectionsOf(page));

/** Returns the last paragraph of a section if it begins with "Decided in:". */
function decidedIn({ text }: Section): string | undefined {
  return /(?:^|\n\n)(Decided in: [\s\S]*)$/.exec(text)?.[1];
}

test('every section with rules ends with the files that decide them', () => {
  const missing = sections
    .filter(({ text }) => text !== '')
    .filter((section) => !/^Decided in: [^\n]+(?:\n[^\n]+)*\.$/.test(decidedIn(section) ?? ''))
    .map(({ file, heading }) => `${file}: ${heading}`);
  assert.deepEqual(missing, []);
});

test('every paragraph "Decided in:" names a file, and all files that it names exist', () => {
  const faults = sections.flatMap((section) => {
    const line = decidedIn(section);
    if (line === undefined) return [];
    const paths = [...line.matchAll(/`((?:src|test)\/[^`]*)`/g)].map(([, path]) => path!);
    const broken = paths.filter((path) => !existsSync(join(root, path)));
    if (paths.length === 0) broken.push('no file');
    return broken.map((path) => `${section.file}, ${section.heading}: ${path}`);
  });
  assert.deepEqual(faults, []);
});
