import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listPages, root, type Section, sectionsOf } from './pages.ts';

// Checks the pages whose sections contain rules. Each section ends with the files in which a maintainer can change these
// rules: with the line "Decided in:" for one file, or with a table that has a row for each rule.

const HOLDS_RULES = /^docs\/(?:keycloak\/|reference\/(?!index\.md))/;

const sections = listPages()
  .filter(({ file }) => HOLDS_RULES.test(file))
  .flatMap((page) => sectionsOf(page));

const LINE = /^Decided in: (.+)\.$/;
const HEAD = '| rule | decided in |\n|---|---|\n';
const MOST_WORDS_OF_LINE = 11;

/** Returns the last paragraph of a section, without the paragraphs before it. */
const lastParagraph = ({ text }: Section): string => text.slice(text.lastIndexOf('\n\n') + 1).trim();

const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:src|test)\/[^`]*)`/g)].map(([, path]) => path!);

/** Returns the fault of a line "Decided in:" or of a table, or undefined if it has the right form. */
function findFault(end: string): string | undefined {
  const [, named] = LINE.exec(end) ?? [];
  if (named !== undefined) {
    if (pathsIn(named).length !== 1) return 'the line names several files or none; write a table';
    return end.split(' ').length > MOST_WORDS_OF_LINE ? 'the line is too long; write a table' : undefined;
  }
  if (!end.startsWith(HEAD)) return 'no line "Decided in:" and no table "rule, decided in"';
  const rows = end.slice(HEAD.length).split('\n');
  if (rows.length < 2) return 'the table has one row; write a line';
  if (pathsIn(end).length === 0) return 'the table names no file';
  const broken = rows.find((row) => !/^\| [^|]+ \| [^|]+ \|$/.test(row));
  return broken === undefined ? undefined : `not a row with two cells: ${broken}`;
}

test('every section with rules ends with the line "Decided in:" for one file, or with a table for several', () => {
  const faults = sections
    .filter(({ text }) => text !== '')
    .map((section) => ({ ...section, fault: findFault(lastParagraph(section)) }))
    .filter(({ fault }) => fault !== undefined)
    .map(({ file, heading, fault }) => `${file}, ${heading}: ${fault}`);
  assert.deepEqual(faults, []);
});

test('the lines "Decided in:" and the tables of rules name only files that exist', () => {
  const missing = sections.flatMap((section) =>
    pathsIn(lastParagraph(section))
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${section.file}, ${section.heading}: ${path}`),
  );
  assert.deepEqual(missing, []);
});
