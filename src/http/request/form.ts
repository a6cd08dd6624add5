import { isPasswordTooLong, MOST_PASSWORD_BYTES } from '../../model/index.ts';
import { Refusal } from '../../protocol/index.ts';

/** A form, parsed. */
export interface Form {
  /** The first value of each field. */
  fields: ReadonlyMap<string, string>;
  /** A field was given twice. */
  duplicated: boolean;
}

const EMPTY: Form = { fields: new Map(), duplicated: false };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The form in a raw body. Any content type but `application/x-www-form-urlencoded` means an empty form, as in
 * Keycloak (facts §3.1): the type is compared as it is written, its parameters are not looked at.
 *
 * @throws Refusal `malformed-form` for a broken %-escape, bytes that are no UTF-8, or a NUL character
 */
export function parseForm(body: unknown, contentType: string | undefined): Form {
  if (!isForm(contentType)) return EMPTY;
  if (!Buffer.isBuffer(body) || body.length === 0) return EMPTY;
  const fields = new Map<string, string>();
  let duplicated = false;
  for (const [name, value] of listPairs(body.toString('latin1'))) {
    if (fields.has(name)) duplicated = true;
    else fields.set(name, value);
  }
  return { fields, duplicated };
}

/**
 * Every value of each field of a query or a form, in order.
 *
 * @param text one byte per character, without `?`
 * @throws Refusal `malformed-form` as `parseForm` does
 */
export function parseFields(text: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of listPairs(text)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}

/** Whether a body says to be a form: the type is compared as it is written (facts §3.1). */
export function isForm(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim() === 'application/x-www-form-urlencoded';
}

/** Bytes of one field and fields of one form at most, as Keycloak takes them (its `http.limits`). */
const MOST_OF_A_FIELD = 128 * 1024;
const MOST_FIELDS = 1000;

/** A pair without `=` is a name with an empty value. */
function* listPairs(text: string): Generator<readonly [name: string, value: string]> {
  let count = 0;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    if (++count > MOST_FIELDS) throw tooLarge(`more than ${MOST_FIELDS} fields`);
    if (pair.length > MOST_OF_A_FIELD) throw tooLarge(`a field of more than ${MOST_OF_A_FIELD} bytes`);
    const equals = pair.indexOf('=');
    if (equals < 0) {
      yield [decodeFormText(pair), ''];
      continue;
    }
    const name = decodeFormText(pair.slice(0, equals));
    const value = decodeFormText(pair.slice(equals + 1));
    yield [name, PASSWORDS.has(name) ? shortPassword(value) : value];
  }
}

const PASSWORDS: ReadonlySet<string> = new Set(['password', 'password-new', 'password-confirm']);

/** Of a password that is too long as much as shows that it is: it may wait a while for its answer. */
function shortPassword(value: string): string {
  if (!isPasswordTooLong(value)) return value;
  // A copy, because a slice keeps the whole text in memory.
  return Buffer.from(value.slice(0, MOST_PASSWORD_BYTES + 1)).toString();
}

/** One name or value of a form (WHATWG URL §5.1, strict): `text` holds one byte per character. */
function decodeFormText(text: string): string {
  if (!/[%+\x00\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let byte = text.charCodeAt(at);
    if (byte === 0x2b) byte = 0x20;
    else if (byte === 0x25) {
      const hex = text.slice(at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) throw malformed('a broken %-escape');
      byte = Number.parseInt(hex, 16);
      at += 2;
    }
    if (byte === 0) throw malformed('a NUL character');
    bytes[length++] = byte;
  }
  try {
    return utf8.decode(bytes.subarray(0, length));
  } catch {
    throw malformed('text that is not UTF-8');
  }
}

function tooLarge(what: string): Refusal {
  return new Refusal('form-too-large', { description: `The form has ${what}` });
}

function malformed(what: string): Refusal {
  return new Refusal('malformed-form', { description: `The form has ${what}` });
}
