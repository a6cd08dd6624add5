import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchLocale, PAGE_LOCALES } from '../../src/model/index.ts';

test('prefers the language with the same tag, then one with the same primary language (RFC 4647 §3.4)', () => {
  const found = (wish: string) => matchLocale(['en', 'de', 'pt-BR', 'pt'], wish);
  assert.deepEqual(['DE', 'de-AT', 'de_CH', 'pt', 'pt-br', 'pt-PT', 'xx', '', '-'].map(found), [
    'de',
    'de',
    'de',
    'pt',
    'pt-BR',
    'pt-BR',
    undefined,
    undefined,
    undefined,
  ]);
});

test('English is the first language, because it is the default', () => {
  assert.equal(PAGE_LOCALES[0], 'en');
  for (const locale of PAGE_LOCALES) assert.equal(Intl.getCanonicalLocales(locale)[0], locale);
});
