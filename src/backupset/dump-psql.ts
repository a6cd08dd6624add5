import { after, endOfQuoted, isWord } from './dump-statement.ts';
import { badDump, INCOMPLETE } from './dump-window.ts';

/**
 * Finds the end of the Postgres statement that begins at `start`, where psql would find it: the place after a
 * semicolon outside quotes, comments, parentheses and SQL function bodies; or INCOMPLETE.
 *
 * @throws IDKIT_DAMAGED for a backslash outside of them, which psql takes for a command of its own
 */
export function endOfPsqlStatement(text: Buffer, start: number): number {
  const body = /^CREATE\s+(OR\s+REPLACE\s+)?(FUNCTION|PROCEDURE)\b/i.test(
    text.toString('latin1', start, start + 64),
  );
  let parentheses = 0;
  // BEGIN and CASE of an SQL function's body, each until its END.
  let blocks = 0;
  let at = start;
  while (at < text.length) {
    const byte = text[at]!;
    if (byte === 0x3b && parentheses === 0 && blocks === 0) return at + 1;
    if (byte === 0x28) parentheses++;
    if (byte === 0x29 && parentheses > 0) parentheses--;
    const end = endOfPsqlToken(text, at);
    if (end === INCOMPLETE) return INCOMPLETE;
    if (body && parentheses === 0 && isWord(byte)) {
      const word = text.toString('latin1', at, end).toUpperCase();
      if (word === 'BEGIN' || (word === 'CASE' && blocks > 0)) blocks++;
      if (word === 'END' && blocks > 0) blocks--;
    }
    at = end;
  }
  return INCOMPLETE;
}

function endOfPsqlToken(text: Buffer, start: number): number {
  const byte = text[start]!;
  const next = text[start + 1];
  switch (byte) {
    case 0x27:
    case 0x22:
      return endOfQuoted(text, start, byte);
    case 0x5c:
      throw badDump('it holds a psql command inside a statement');
    case 0x2d:
      if (next === undefined) return INCOMPLETE;
      return next === 0x2d ? after(text, '\n', start + 2) : start + 1;
    case 0x2f:
      if (next === undefined) return INCOMPLETE;
      return next === 0x2a ? endOfBlockComment(text, start + 2) : start + 1;
    case 0x24:
      return endOfDollarQuoted(text, start);
  }
  return isWord(byte) ? endOfPsqlWord(text, start) : start + 1;
}

/** A word; with `E` before a quote the whole literal with its backslash escapes. */
function endOfPsqlWord(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length && isWord(text[at]!)) at++;
  if (at === text.length) return INCOMPLETE;
  const escapes = at - start === 1 && (text[start]! | 0x20) === 0x65 && text[at] === 0x27;
  if (!escapes) return at;
  for (let place = at + 1; place < text.length; place++) {
    if (text[place] === 0x5c) place++;
    else if (text[place] === 0x27) {
      if (place + 1 === text.length) return INCOMPLETE;
      if (text[place + 1] !== 0x27) return place + 1;
      place++;
    }
  }
  return INCOMPLETE;
}

/** `$tag$ … $tag$`, or the place after a dollar sign that begins none. */
function endOfDollarQuoted(text: Buffer, start: number): number {
  let at = start + 1;
  while (at < text.length && isWord(text[at]!) && text[at] !== 0x24) at++;
  if (at === text.length) return INCOMPLETE;
  const digit = text[start + 1]! >= 0x30 && text[start + 1]! <= 0x39;
  if (text[at] !== 0x24 || digit) return start + 1;
  return after(text, text.toString('latin1', start, at + 1), at + 1);
}

/** The place after a block comment, whose inside begins at `start`: they nest in Postgres. Or INCOMPLETE. */
export function endOfBlockComment(text: Buffer, start: number): number {
  let depth = 1;
  for (let at = start; at + 1 < text.length; at++) {
    if (text[at] === 0x2f && text[at + 1] === 0x2a) {
      depth++;
      at++;
    } else if (text[at] === 0x2a && text[at + 1] === 0x2f) {
      depth--;
      at++;
      if (depth === 0) return at + 1;
    }
  }
  return INCOMPLETE;
}
