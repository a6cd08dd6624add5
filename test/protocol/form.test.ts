import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseForm } from '../../src/http/request/form.ts';
import { Refusal } from '../../src/protocol/refusal.ts';

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

  it('takes raw UTF-8 as it comes', () => {
    assert.deepEqual(fields('password=pässwörd-日本'), { password: 'pässwörd-日本' });
  });

  it('keeps fields without a value and skips empty pairs', () => {
    assert.deepEqual(fields('&a&b=&&=c'), { a: '', b: '', '': 'c' });
  });

  it('keeps the first of a field that is given twice, and says so (facts §3.1 step 6)', () => {
    const form = parse('scope=a&x=1&scope=b');
    assert.equal(form.fields.get('scope'), 'a');
    assert.equal(form.duplicated, true);
    assert.equal(parse('scope=a').duplicated, false);
  });

  it('is empty for another content type, also for the right one in capitals (facts §3.1)', () => {
    for (const type of ['application/json', 'text/plain', 'APPLICATION/X-WWW-FORM-URLENCODED', ''])
      assert.equal(parse('grant_type=password', type).fields.size, 0, type);
    assert.equal(parseForm(Buffer.from('grant_type=password'), undefined).fields.size, 0);
  });

  it('takes a charset beside the content type', () => {
    assert.equal(parse('a=b', `${FORM}; charset=UTF-8`).fields.get('a'), 'b');
  });

  it('refuses a broken %-escape with 400, where Keycloak fails with 500 (contract §5)', () => {
    for (const text of ['client_id=%zz', 'a=%', 'a=%4', '%=a']) refusesAs(text, /broken %-escape/);
  });

  it('refuses a NUL character, escaped or raw (contract §5)', () => {
    refusesAs('username=a%00b', /NUL/);
    refusesAs('username=a\0b', /NUL/);
    refusesAs('a%00=b', /NUL/);
  });

  it('refuses bytes that are no UTF-8', () => {
    refusesAs('a=%ff%fe', /not UTF-8/);
    assert.throws(() => parseForm(Buffer.from([0x61, 0x3d, 0xff]), FORM), Refusal);
  });

  it('gives back every form that a browser encodes', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0') && isWhole(value));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name }), (pairs) => {
        const parsed = parse(new URLSearchParams(pairs).toString());
        assert.deepEqual([...parsed.fields], pairs);
        assert.equal(parsed.duplicated, false);
      }),
    );
  });

  it('answers every body with a form or a refusal', () => {
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
