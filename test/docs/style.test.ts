import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CITATIONS, countOffences, listTexts, prose } from './style-check.ts';
import { STYLE_RULES } from './style-rules.ts';

const page = readFileSync(new URL('../../docs/style.md', import.meta.url), 'utf8');

const texts = listTexts();

for (const { name, pattern, instead } of [
  ...STYLE_RULES.map((rule) => ({ ...rule, name: rule.avoid })),
  ...CITATIONS,
]) {
  test(`no text contains "${name}" (docs/style.md)`, () => {
    const offences = countOffences(texts, pattern);
    const shown = offences.slice(0, 20).map(({ file, line, text }) => `${file}:${line}: ${text}`);
    assert.equal(offences.length, 0, `write: ${instead}\n${shown.join('\n')}`);
  });
}

test('the check finds a phrase that spans two lines of a comment, and accepts technical terms', () => {
  const of = (text: string, avoid: string) => {
    const rule = STYLE_RULES.find((known) => known.avoid === avoid)!;
    return countOffences([{ file: 'a.ts', text }], rule.pattern).length;
  };
  assert.equal(prose('/**\n * The name\n * is no\n * name.\n */'), 'The name is no name. ');
  assert.equal(of('// The name is\n// no name of a set.', 'is no X'), 1);
  assert.equal(of('/** There is no row. It is no longer valid. */', 'is no X'), 0);
  assert.equal(of('// RS stands for resource server', 'stands'), 0);
  assert.equal(of('// as it stands in the file', 'stands'), 1);
  assert.equal(of('const toldOf = 1', 'tell, told'), 1);
});

test('docs/style.md lists every replacement', () => {
  for (const rule of STYLE_RULES) assert.ok(page.includes(`| ${rule.avoid} |`), rule.avoid);
});
