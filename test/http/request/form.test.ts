import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseForm } from '../../../src/http/request/realm-request.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';

const FORM = 'application/x-www-form-urlencoded';
const parse = (text: string, type: string | undefined = FORM) => parseForm(Buffer.from(text, 'utf8'), type);
const fields = (text: string) => Object.fromEntries(parse(text).fields);

function refusesAs(text: string | Buffer, description: RegExp): void {
  assert.throws(
    () => parseForm(Buffer.from(text as string), FORM),
    (error) =>
      error instanceof Refusal &&
      error.case === 'malformed-form' &&
      description.test(error.description ?? ''),
  );
}

describe('the form of a request', () => {
  it('decodes + and %-escapes as UTF-8 (WHATWG URL §5.1)', () => {
    assert.deepEqual(fields('a=b+c&d%20e=%E2%82%AC%2B'), { a: 'b c', 'd e': '€+' });
  });

  it('accepts raw UTF-8', () => {
    assert.deepEqual(fields('password=pässwörd-日本'), { password: 'pässwörd-日本' });
  });

  it('keeps fields without a value and skips empty pairs', () => {
    assert.deepEqual(fields('&a&b=&&=c'), { a: '', b: '', '': 'c' });
  });

  it('keeps the first value of a field that occurs twice, and reports it (docs/keycloak/tokens.md#order-of-the-checks)', () => {
    const form = parse('scope=a&x=1&scope=b');
    assert.equal(form.fields.get('scope'), 'a');
    assert.equal(form.duplicated, true);
    assert.equal(parse('scope=a').duplicated, false);
  });

  it('returns an empty form for another content type, even for the correct type in capitals (docs/keycloak/errors.md#content-types)', () => {
    for (const type of ['application/json', 'text/plain', 'APPLICATION/X-WWW-FORM-URLENCODED', ''])
      assert.equal(parse('grant_type=password', type).fields.size, 0, type);
    assert.equal(parseForm(Buffer.from('grant_type=password'), undefined).fields.size, 0);
  });

  it('accepts a charset in the content type', () => {
    assert.equal(parse('a=b', `${FORM}; charset=UTF-8`).fields.get('a'), 'b');
  });

  it('rejects a broken %-escape with 400, whereas Keycloak fails with 500 (docs/keycloak/errors.md#server-faults)', () => {
    for (const text of ['client_id=%zz', 'a=%', 'a=%4', '%=a']) refusesAs(text, /broken %-escape/);
  });

  it('rejects a NUL character, escaped or raw', () => {
    refusesAs('username=a%00b', /NUL/);
    refusesAs('username=a\0b', /NUL/);
    refusesAs('a%00=b', /NUL/);
  });

  it('rejects bytes that are not UTF-8', () => {
    refusesAs('a=%ff%fe', /not UTF-8/);
    assert.throws(() => parseForm(Buffer.from([0x61, 0x3d, 0xff]), FORM), Refusal);
  });

  it('decodes every form that a browser encodes', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && isWhole(value));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }), (pairs) => {
        const parsed = parse(new URLSearchParams(pairs).toString());
        assert.deepEqual([...parsed.fields], pairs);
        assert.equal(parsed.duplicated, false);
      }),
    );
  });

  it('returns a form or throws a refusal for every body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          parseForm(Buffer.from(bytes), FORM);
        } catch (error) {
          assert.ok(error instanceof Refusal);
        }
      }),
    );
  });
});

function isWhole(text: string): boolean {
  return text.isWellFormed();
}
