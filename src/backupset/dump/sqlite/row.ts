import type { DumpRow } from '../rows.ts';
import { badDump, INCOMPLETE } from '../window.ts';

const QUOTE = 0x27;
const COMMA = 0x2c;
const OPEN = 0x28;
const CLOSE = 0x29;

const HEX = new Uint8Array(256);
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = 1;
const NUMERIC = new Uint8Array(256);
for (const digit of '0123456789+-.eE') NUMERIC[digit.charCodeAt(0)] = 1;

const CAST_START = Buffer.from("CAST(X'");
const CAST_END = Buffer.from("' AS TEXT)");
const NULL_WORD = Buffer.from('NULL');

/** The offsets of a row's values: column `i` begins at `places[2i]` and ends at `places[2i + 1]`. */
export type Places = Int32Array;

/**
 * Reads one row `(value,…)` that begins at `start`: strings, blobs, numbers, NULL and `CAST(X'…' AS TEXT)`, but no
 * expression. Returns the offset after the row, or INCOMPLETE.
 *
 * @throws IDKIT_DAMAGED for any other text, or if the number of values is not `columns`
 */
export function scanRow(text: Uint8Array, start: number, columns: number, places?: Places): number {
  if (text[start] !== OPEN) throw badDump('a row of an INSERT does not begin with (');
  let at = start + 1;
  for (let column = 0; ; column++) {
    if (column === columns) throw badDump('a row has more values than its INSERT has columns');
    const end = scanValue(text, at);
    if (end === INCOMPLETE || end >= text.length) return INCOMPLETE;
    if (places !== undefined) {
      places[column * 2] = at;
      places[column * 2 + 1] = end;
    }
    const next = text[end];
    if (next === COMMA) at = text[end + 1] === 0x20 ? end + 2 : end + 1;
    else if (next === CLOSE) {
      if (column + 1 !== columns) throw badDump('a row has fewer values than its INSERT has columns');
      return end + 1;
    } else throw badDump('a value of an INSERT is not followed by , or )');
  }
}

function scanValue(text: Uint8Array, start: number): number {
  const first = text[start];
  if (first === undefined) return INCOMPLETE;
  if (first === QUOTE) return scanString(text, start + 1);
  if (NUMERIC[first] === 1) return scanNumber(text, start);
  if (first === 0x58 || first === 0x78) return scanHex(text, start + 1, false);
  if (first === 0x4e) return scanWord(text, start, NULL_WORD);
  if (first === 0x43) {
    const hex = scanWord(text, start, CAST_START);
    return hex === INCOMPLETE ? INCOMPLETE : scanHex(text, hex - 1, true);
  }
  throw badDump('an INSERT has something other than a plain value');
}

function scanString(text: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    at = nextQuote(text, at);
    if (at === INCOMPLETE || at + 1 === text.length) return INCOMPLETE;
    if (text[at + 1] !== QUOTE) return at + 1;
    at += 2;
  }
}

/** Number of bytes that are compared one by one. Most texts are short, and `indexOf` is slower for them. */
const SHORT_TEXT = 40;

function nextQuote(text: Uint8Array, from: number): number {
  const near = Math.min(text.length, from + SHORT_TEXT);
  for (let at = from; at < near; at++) if (text[at] === QUOTE) return at;
  return near === text.length ? INCOMPLETE : text.indexOf(QUOTE, near);
}

function scanNumber(text: Uint8Array, start: number): number {
  let at = start;
  let plain = true;
  while (at < text.length && NUMERIC[text[at]!] === 1) {
    if (text[at]! < 0x30 || text[at]! > 0x39) plain = false;
    at++;
  }
  if (at === text.length) return at - start > 64 ? bad() : INCOMPLETE;
  if (plain) return at;
  const number = Buffer.from(text.buffer, text.byteOffset + start, at - start).toString('latin1');
  return /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(number) ? at : bad();

  function bad(): never {
    throw badDump('an INSERT has a malformed number');
  }
}

/** Scans a hex literal whose opening quote is at `start`. */
function scanHex(text: Uint8Array, start: number, cast: boolean): number {
  if (start >= text.length) return INCOMPLETE;
  if (text[start] !== QUOTE) throw badDump('an INSERT has something other than a plain value');
  let at = start + 1;
  while (at < text.length && HEX[text[at]!] === 1) at++;
  if (at === text.length) return INCOMPLETE;
  if (text[at] !== QUOTE || (at - start) % 2 === 0) throw badDump('an INSERT has a blob that is not in hex');
  return cast ? scanWord(text, at, CAST_END) : at + 1;
}

function scanWord(text: Uint8Array, start: number, word: Uint8Array): number {
  for (let index = 0; index < word.length; index++) {
    if (start + index >= text.length) return INCOMPLETE;
    if (text[start + index] !== word[index])
      throw badDump('an INSERT has something other than a plain value');
  }
  return start + word.length;
}

/** Returns a scanned value as text, a blob as its hex literal, and undefined for NULL. */
export function valueText(text: Buffer, start: number, end: number): string | undefined {
  const literal = text.toString('utf8', start, end);
  if (literal === 'NULL') return undefined;
  if (literal.startsWith("'")) return literal.slice(1, -1).replaceAll("''", "'");
  if (literal.startsWith('CAST('))
    return Buffer.from(literal.slice(CAST_START.length, -CAST_END.length), 'hex').toString('utf8');
  return literal;
}

/** The row that was scanned last. One object serves all rows, because a dump can contain millions. */
export class ReadRow implements DumpRow {
  #text: Buffer = Buffer.alloc(0);
  #places: Places = new Int32Array(0);
  bytes = 0;

  at(text: Buffer, places: Places, bytes: number): this {
    this.#text = text;
    this.#places = places;
    this.bytes = bytes;
    return this;
  }

  text(column: number): string | null {
    return column < 0
      ? null
      : (valueText(this.#text, this.#places[column * 2]!, this.#places[column * 2 + 1]!) ?? null);
  }

  blob(column: number): Buffer | null {
    const literal = this.text(column);
    if (literal === null) return null;
    const isHex = /^[xX]'/.test(literal);
    return isHex ? Buffer.from(literal.slice(2, -1), 'hex') : Buffer.from(literal);
  }
}
