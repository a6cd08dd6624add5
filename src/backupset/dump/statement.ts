import { badDump, INCOMPLETE } from './window.ts';

/**
 * Finds the end of the SQLite statement that begins at `start`: the offset after its semicolon, or INCOMPLETE. Quotes
 * and comments are read as SQLite reads them. A trigger contains semicolons and ends after `END;`.
 */
export function endOfStatement(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length) {
    const byte = text[at]!;
    if (byte === 0x3b && !isInsideTrigger(text.subarray(start, at))) return at + 1;
    if (isSpace(byte)) at++;
    else if (byte === 0x2d && text[at + 1] === 0x2d) at = after(text, '\n', at + 2);
    else if (byte === 0x2f && text[at + 1] === 0x2a) at = after(text, '*/', at + 2);
    else at = endOfToken(text, at);
    if (at === INCOMPLETE) return INCOMPLETE;
  }
  return INCOMPLETE;
}

/** The first words of a trigger, as SQLite stores them. */
const TRIGGER = 'CREATE TRIGGER ';

/** Reports whether the text before a semicolon is an incomplete trigger. */
export function isInsideTrigger(statement: Buffer): boolean {
  if (statement.toString('latin1', 0, TRIGGER.length) !== TRIGGER) return false;
  return !/;\s*END\s*$/.test(statement.toString('latin1', Math.max(0, statement.length - 64)));
}

/** Returns the offset after the token at `start`: a string, a quoted name, a word or one character. */
function endOfToken(text: Buffer, start: number): number {
  const byte = text[start]!;
  if (byte === 0x27 || byte === 0x22 || byte === 0x60) return endOfQuoted(text, start, byte);
  if (byte === 0x5b) return after(text, ']', start + 1);
  if (!isWord(byte)) return start + 1;
  let at = start;
  while (at < text.length && isWord(text[at]!)) at++;
  return at === text.length ? INCOMPLETE : at;
}

/** Returns the offset after a literal in which quotes are doubled, or INCOMPLETE. */
export function endOfQuoted(text: Buffer, start: number, quote: number): number {
  let at = start + 1;
  for (;;) {
    at = text.indexOf(quote, at);
    if (at < 0 || at + 1 === text.length) return INCOMPLETE;
    if (text[at + 1] !== quote) return at + 1;
    at += 2;
  }
}

/** Returns the offset after the next `mark`, or INCOMPLETE. */
export function after(text: Buffer, mark: string, from: number): number {
  const at = text.indexOf(mark, from, 'latin1');
  return at < 0 ? INCOMPLETE : at + mark.length;
}

/** True for white space in SQL. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** True for a byte of an unquoted name or keyword. */
export function isWord(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x5f ||
    byte === 0x24 ||
    byte >= 0x80
  );
}

/** Returns the offset of the first byte that is not white space. */
export function skipSpace(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length && isSpace(text[at]!)) at++;
  return at;
}

/** Rejects NUL bytes. idkit writes literals with NUL bytes in hex. @throws IDKIT_DAMAGED */
export function checkNoNul(chunk: Uint8Array): void {
  if (chunk.includes(0)) throw badDump('it contains a NUL byte, which SQL text never does');
}
