import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listPages, root, type Section, sectionsOf } from './pages.ts';

// The pages whose sections hold rules. Each section ends with a paragraph "Decided in:", which leads from each of its
// rules to the file that a maintainer would change.

const HOLDS_RULES = /^docs\/(?:keycloak\/|reference\/(?!index\.md))/;

const sections = listPages()
  .filter(({ file }) => HOLDS_RULES.test(file))
  .flatMap((page) => sectionsOf(page));

/** The text of a section without its last paragraph, if that is the paragraph "Decided in:". */
function decidedIn({ text }: Section): string | undefined {
  return /(?:^|\n\n)(Decided in: [\s\S]*)$/.exec(text)?.[1];
}

test('every section with rules says at its end where they are decided', () => {
  const missing = sections
    .filter(({ text }) => text !== '')
    .filter((section) => !/^Decided in: [^\n]+(?:\n[^\n]+)*\.$/.test(decidedIn(section) ?? ''))
    .map(({ file, heading }) => `${file}: ${heading}`);
  assert.deepEqual(missing, []);
});

test('every file that a paragraph "Decided in:" names exists, and it names one', () => {
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
