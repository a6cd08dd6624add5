import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { renderFormPost, renderPage, renderPlainError } from '../../../src/http/pages/index.ts';
import { findTexts } from '../../../src/http/pages/messages/texts.ts';
import { accountSamples } from './account-samples.ts';
import { readElements, shapeOf } from './read-page.ts';
import { PLAIN, samples, type Texts } from './samples.ts';

const place = { basePath: '' };
const everyPage = (texts?: Texts) => [...samples(texts), ...accountSamples(texts)];

/** Texts that try to break out of markup, mixed with other characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '`',
        '=',
        '/',
        '\\',
        '${',
        '}',
        '{name}',
        '\0',
        '\n',
        '\r',
        ' ',
      ),
      fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onfocus='alert(1)"),
      fc.constantFrom('<!--', '-->', ']]>', '</title>', '</textarea>', '&lt;', '&#x3c;', '<svg/onload=x>'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  // An empty text would change the page, because another field would have the focus.
  .filter((text) => text.trim() !== '');

const hostileTexts: fc.Arbitrary<Texts> = fc.record(
  Object.fromEntries(Object.keys(PLAIN).map((key) => [key, hostile])) as Record<
    keyof Texts,
    fc.Arbitrary<string>
  >,
);

/** Normalizes line endings and replaces invalid characters, as an HTML parser does. */
const asRead = (text: string) =>
  text.replace(/\r\n?/g, '\n').replaceAll('\0', '\ufffd').toWellFormed().replaceAll('\ufffd', '');

test('no stored or submitted text changes the elements of any page (XSS)', () => {
  const shapes = new Map(
    everyPage().map(({ name, frame, page }) => [name, shapeOf(renderPage(frame, page, place).markup)]),
  );
  fc.assert(
    fc.property(hostileTexts, (texts) => {
      for (const { name, frame, page } of everyPage(texts))
        assert.deepEqual(shapeOf(renderPage(frame, page, place).markup), shapes.get(name), name);
    }),
    { numRuns: 60 },
  );
});

test('a page shows every stored text unchanged', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      // Exclude texts such as `${key}`, because the page replaces them with a message.
      fc.pre(!/^\s*\$\{[\w.-]+\}\s*$/.test(text));
      const texts = { ...PLAIN, username: text, client: text, displayName: text };
      const all = samples(texts).flatMap(({ frame, page }) =>
        readElements(renderPage(frame, page, place).markup),
      );
      const shown = (element: string, pick: 'text' | 'value') =>
        all
          .filter(({ tag, attributes }) => tag === element || attributes['id'] === element)
          .map((one) => asRead(pick === 'text' ? one.text : (one.attributes[pick] ?? '')));
      assert.ok(shown('kc-page-title', 'text').some((title) => title.includes(asRead(text))));
      assert.ok(shown('kc-attempted-username', 'value').every((value) => value === asRead(text)));
      assert.ok(shown('title', 'text').some((title) => title.includes(asRead(text))));
    }),
    { numRuns: 60 },
  );
});

test('the form_post page preserves every byte of state and code (Form Post §2)', () => {
  const visible = hostile.map((text) => text.toWellFormed().replace(/[\0\r\n]/g, ''));
  fc.assert(
    fc.property(visible, visible, (state, description) => {
      const fields = [
        ['state', state],
        ['error_description', description],
      ] as const;
      const { markup } = renderFormPost({ to: 'https://app.example/cb', fields }, findTexts('en'), place);
      const inputs = readElements(markup).filter(({ tag }) => tag === 'input');
      assert.deepEqual(
        inputs.map(({ attributes }) => [attributes['name'], attributes['value']]),
        fields,
      );
      assert.equal(readElements(markup).filter(({ tag }) => tag === 'script').length, 1);
    }),
  );
});

test('an error page of the HTTP layer escapes its message', () => {
  const plain = (detail: string) =>
    renderPlainError(400, { locale: 'en', ways: [{ way: 'retry', url: '' }], detail }, place).markup;
  const shape = shapeOf(plain('x'));
  fc.assert(
    fc.property(hostile, (text) => {
      assert.deepEqual(shapeOf(plain(text)), shape);
    }),
  );
});
