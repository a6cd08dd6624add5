import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RULE_MESSAGE_KEYS } from '../../../src/browser/index.ts';
import { renderPage } from '../../../src/http/pages/index.ts';
import { details } from '../../../src/http/pages/messages/details.ts';
import { en, type Messages, type Plural } from '../../../src/http/pages/messages/en.ts';
import { findTexts, loadTexts, messagesOf } from '../../../src/http/pages/messages/texts.ts';
import { PAGE_LOCALES } from '../../../src/model/index.ts';

await Promise.all(PAGE_LOCALES.map(loadTexts));

const pages = new URL('../../../src/http/', import.meta.url).pathname;
const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('pages/messages/'))
  .map((file) => readFileSync(join(pages, file), 'utf8'))
  .join('\n');

/** Keys that stored values refer to with `${key}`: Keycloak's consent texts and client names. */
const STORED = /^(client_|.*ConsentText$)/;

const languages = PAGE_LOCALES.map((language) => [language, messagesOf(language)] as const);
const formsOf = (text: string | Plural): readonly string[] =>
  typeof text === 'string' ? [text] : Object.values(text);

test('every language has exactly the same keys, and plural forms for the same texts', () => {
  const kinds = (messages: Messages) =>
    Object.entries(messages)
      .map(([key, text]) => `${key}: ${typeof text}`)
      .sort();
  for (const [language, messages] of languages) assert.deepEqual(kinds(messages), kinds(en), language);
});

test('pages are in at least twelve languages, and each has a file', () => {
  assert.ok(PAGE_LOCALES.length >= 12);
  const files = readdirSync(join(pages, 'pages/messages')).map((file) => file.replace(/\.ts$/, ''));
  assert.deepEqual(
    files.filter((file) => !['details', 'texts'].includes(file)).sort(),
    PAGE_LOCALES.map((locale) => locale.toLowerCase()).sort(),
  );
});

test('a text with a number has each form that the language needs for numbers up to 200', () => {
  for (const [language, messages] of languages) {
    const rules = new Intl.PluralRules(language);
    const needed = new Set(Array.from({ length: 200 }, (_, at) => rules.select(at + 1)));
    for (const [key, text] of Object.entries<string | Plural>(messages))
      if (typeof text !== 'string')
        for (const form of needed) assert.ok(form in text, `${language} ${key} lacks the form ${form}`);
  }
});

test('every message key of src/browser has a text', () => {
  assert.deepEqual(
    RULE_MESSAGE_KEYS.filter((key) => !Object.hasOwn(en, key) && !Object.hasOwn(details, key)),
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

test('a message has the same placeholders in every language, in each of its forms', () => {
  const places = (texts: readonly string[]) =>
    [...new Set(texts.flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();
  for (const [language, messages] of languages)
    for (const [key, text] of Object.entries<string | Plural>(messages)) {
      const expected = places(formsOf(en[key as keyof typeof en]));
      assert.deepEqual(places(formsOf(text)), expected, `${language} ${key}`);
      if (typeof text !== 'string') assert.deepEqual(places([text.other]), expected, `${language} ${key}`);
    }
});

/** Texts that are the same in English and in another language. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  es: ['doNo'],
  fr: ['accountApplicationsTitle', 'client_realm-management'],
  it: ['doNo', 'password', 'accountPasswordTitle', 'client_account'],
  nl: ['client_account'],
  sv: ['client_realm-management'],
};

test('no message is empty or untranslated, or contains markup', () => {
  for (const [language, messages] of languages)
    for (const [key, text] of Object.entries<string | Plural>(messages)) {
      for (const form of formsOf(text)) assert.match(form, /^[^<>&]*\S[^<>&]*$/, `${language} ${key}`);
      if (language === 'en' || key === 'ownLabel' || SAME[language]?.includes(key)) continue;
      assert.notDeepEqual(text, en[key as keyof typeof en], `${language} ${key}`);
    }
});

test('one thing has one name: people sign in and sign out (Keycloak’s messages for administrators differ)', () => {
  const words = Object.values<string | Plural>(en).flatMap(formsOf).join('\n');
  assert.doesNotMatch(words, /\blog(?:ged|ging)?[ -]?(?:in|out|on|off)\b|authenticat(?:e|ed|ion)\b/i);
});

test('no text names internals of the service', () => {
  for (const [language, messages] of languages)
    for (const [key, text] of Object.entries<string | Plural>(messages))
      for (const form of formsOf(text))
        assert.doesNotMatch(
          form,
          /\b(?:realm|client|bearer|regex|redirect|uri|idkit|keycloak|null)\b(?!\})/i,
          `${language} ${key}`,
        );
});

test('the form of a text with a number follows the number', () => {
  const more = (locale: string, count: string) => findTexts(locale).text('accountSessionsMore', { count });
  assert.equal(more('en', '1'), 'And 1 more that was used less recently.');
  assert.equal(more('en', '2'), 'And 2 more that were used less recently.');
  const length = (locale: string, count: string) =>
    findTexts(locale).message({ key: 'invalidPasswordMinDigitsMessage', values: { 0: count } });
  assert.deepEqual(
    ['1', '2', '5', '22'].map((count) => length('pl', count)),
    [
      'Użyj co najmniej 1 cyfry.',
      'Użyj co najmniej 2 cyfr.',
      'Użyj co najmniej 5 cyfr.',
      'Użyj co najmniej 22 cyfr.',
    ],
  );
  assert.equal(length('cs', '3'), 'Použijte alespoň 3 číslice.');
  assert.equal(length('cs', '5'), 'Použijte alespoň 5 číslic.');
  assert.equal(length('ja', '1'), '数字を 1 文字以上使ってください。');
});

test('replaces each placeholder once, whatever its value contains', () => {
  const texts = findTexts('en');
  const named = { key: 'invalidParameterMessage', values: { name: '{name}$&' } };
  assert.equal(texts.message(named), 'Invalid parameter: {name}$&');
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
  const found = ['de', 'de-AT', 'de_CH', 'en-GB', 'pt', 'pt-br', 'ru', '', '__proto__'].map(
    (locale) => findTexts(locale).language,
  );
  assert.deepEqual(found, ['de', 'de', 'de', 'en', 'pt-BR', 'pt-BR', 'en', 'en', 'en']);
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
  assert.equal(texts.text('doLogIn'), 'Sign in');
  assert.equal(texts.message({ key: 'ownKey' }), 'Own');
  assert.equal(findTexts('en').text('loginTitle', { realm: 'Acme' }), 'Sign in to Acme');
});

test('a realm’s own texts override those of its theme, and those of its theme override idkit’s', () => {
  const theme = { doLogIn: 'Enter', doSubmit: 'Send' };
  const own = { doSubmit: 'Go' };
  const texts = findTexts('en', own, theme);
  assert.deepEqual(
    (['doLogIn', 'doSubmit', 'doYes'] as const).map((key) => texts.text(key)),
    ['Enter', 'Go', 'Yes'],
  );
  assert.equal(findTexts('en', undefined, theme).text('doSubmit'), 'Send');
  assert.equal(findTexts('en', own).text('doLogIn'), 'Sign in');
  assert.deepEqual(
    ['doLogIn', 'doSubmit', 'doYes'].map((key) => texts.isOwn(key)),
    [true, true, false],
  );
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
