import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PAGE_LOCALES, RULE_MESSAGE_KEYS } from '../../../src/browser/index.ts';
import { renderPage } from '../../../src/http/pages/index.ts';
import { en } from '../../../src/http/pages/messages/en.ts';
import { findTexts, LANGUAGES } from '../../../src/http/pages/messages/texts.ts';

const pages = new URL('../../../src/http/', import.meta.url).pathname;
const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('pages/messages/'))
  .map((file) => readFileSync(join(pages, file), 'utf8'))
  .join('\n');

/** Keys that stored values refer to with `${key}`: Keycloak's consent texts and client names. */
const STORED = /^(client_|.*ConsentText$)/;

test('every language has exactly the same keys', () => {
  for (const [language, messages] of Object.entries(LANGUAGES))
    assert.deepEqual(Object.keys(messages).sort(), Object.keys(en).sort(), language);
});

test('each language that a login can use has a file, and no other file exists', () => {
  assert.deepEqual(Object.keys(LANGUAGES).sort(), [...PAGE_LOCALES].sort());
});

test('every message key of src/browser has a text', () => {
  assert.deepEqual(
    RULE_MESSAGE_KEYS.filter((key) => !Object.hasOwn(en, key)),
    [],
  );
});

test('every message key is used by a page, by src/browser or in a stored value', () => {
  const rules: ReadonlySet<string> = new Set(RULE_MESSAGE_KEYS);
  const unused = Object.keys(en).filter(
    (key) => !rules.has(key) && !STORED.test(key) && !sources.includes(`'${key}'`),
  );
  assert.deepEqual(unused, []);
});

test('a message has the same placeholders in every language', () => {
  const places = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();
  for (const [language, messages] of Object.entries(LANGUAGES))
    for (const [key, text] of Object.entries(messages))
      assert.deepEqual(places(text), places(en[key as keyof typeof en]), `${language} ${key}`);
});

test('no message is empty or untranslated, or contains markup', () => {
  const same = new Set(['ownLabel', 'client_admin-cli']);
  for (const [language, messages] of Object.entries(LANGUAGES))
    for (const [key, text] of Object.entries(messages)) {
      assert.match(text, /^[^<>&]*\S[^<>&]*$/, `${language} ${key}`);
      if (language !== 'en' && !same.has(key)) assert.notEqual(text, en[key as keyof typeof en], key);
    }
});

test('replaces each placeholder once, whatever its value contains', () => {
  const texts = findTexts('en');
  assert.equal(texts.text('invalidParameterMessage', { name: '{name}$&' }), 'Invalid parameter: {name}$&');
  assert.equal(texts.message({ key: 'ownLabel', values: { text: 'Abteilung' } }), 'Abteilung');
});

test('replaces a stored placeholder with the message that it names, and shows other texts unchanged, as Keycloak does', () => {
  const texts = findTexts('de');
  const placeholder = (key: string) => `$\{${key}}`;
  assert.equal(texts.stored(placeholder('profileScopeConsentText')), 'Benutzerprofil');
  assert.equal(texts.stored(placeholder('unknownText')), 'unknownText');
  assert.equal(texts.stored(`See ${placeholder('your')} orders`), `See ${placeholder('your')} orders`);
  assert.equal(texts.stored(placeholder('constructor')), 'constructor');
});

test('selects the nearest language for a locale, or else English', () => {
  const found = ['de', 'de-AT', 'de_CH', 'en-GB', 'fr', '', '__proto__'].map(
    (locale) => findTexts(locale).language,
  );
  assert.deepEqual(found, ['de', 'de', 'de', 'en', 'en', 'en', 'en']);
});

test('a realm’s own texts take precedence, and their markup is removed (Keycloak’s localizationTexts)', () => {
  const own = {
    termsText: '<p>Be <b>kind</b>.</p><p>1 &lt; 2</p>',
    loginTitle: 'Welcome to {0}',
    ownKey: 'Own',
    number: 5,
  };
  const texts = findTexts('en', own);
  assert.equal(texts.text('termsText'), 'Be kind.\n1 < 2');
  assert.equal(texts.text('loginTitle', { realm: 'Acme' }), 'Welcome to Acme');
  assert.equal(texts.text('doLogIn'), 'Sign In');
  assert.equal(texts.message({ key: 'ownKey' }), 'Own');
  assert.equal(findTexts('en').text('loginTitle', { realm: 'Acme' }), 'Sign in to Acme');
});

test('shows the terms of a realm with one paragraph per line', () => {
  const frame = {
    realm: { name: 'acme', displayName: 'Acme' },
    locale: 'en',
    languages: [],
    ownTexts: { termsText: '<p>One</p><p>Two<script>alert(1)</script></p>' },
  };
  const { markup } = renderPage(frame, { page: 'terms', action: '/x' }, { basePath: '' });
  assert.match(markup, /<div id="kc-terms-text"><p>One<\/p><p>Twoalert\(1\)<\/p><\/div>/);
});
