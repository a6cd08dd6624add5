import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPages } from './pages.ts';
import { PARTS } from './tables.ts';
import { withParts } from './write-readme.ts';

const pages = listPages();

for (const name of Object.keys(PARTS)) {
  test(`the generated part "${name}" is on a page and matches the program line by line`, () => {
    const marker = new RegExp(`<!-- part: ${name} -->\n([\\s\\S]*?)\n<!-- end -->`);
    const written = pages.flatMap(({ text }) => marker.exec(text)?.[1] ?? []);
    assert.ok(written.length >= 1, `a page has the part ${name}`);
    for (const text of written) assert.deepEqual(text.split('\n'), PARTS[name]!());
  });
}

test('every generated part on a page has a generator', () => {
  for (const { text } of pages) assert.equal(withParts(text), text);
});
