import { after, endOfQuoted, isWord } from './dump-statement.ts';
import { badDump, INCOMPLETE } from './dump-window.ts';

/** Bytes of a word that are looked at. */
const LONGEST_WORD = 16;
/** Before a quote they are no word of their own: B'', X'', N'', E''. */
const LITERAL_LETTERS = Buffer.from('bBxXnNeE');
const BLOCK_WORDS = ['BEGIN', 'CASE', 'END'];
const ROUTINE = /^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE) /;
const INSERT = /^INSERT /;
/** What makes of a statement with such a beginning a question to the server. */
const COMPUTED: Readonly<Record<string, RegExp>> = {
  AS: /^CREATE ((GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|FOREIGN) ){0,2}TABLE /,
  SELECT: INSERT,
  WITH: INSERT,
  TABLE: INSERT,
};

/** How careful the reader is. */
interface Care {
  /** A function that the dump made may have turned standard strings off, so a literal must end the same either way. */
  eitherWay: boolean;
}

/**
 * Finds the end of the Postgres statement that begins at `start`, where psql would find it: the place after a
 * semicolon outside quotes, parentheses and SQL function bodies; or INCOMPLETE. What pg_dump never writes and psql's
 * versions read in different ways is refused.
 *
 * @throws IDKIT_DAMAGED, also for a backslash outside of quotes, which psql takes for a command of its own
 */
export function endOfPsqlStatement(text: Buffer, start: number, care: Care): number {
  // The first words, as psql counts them wherever they stand.
  let opening = '';
  let words = 0;
  let parentheses = 0;
  // BEGIN and CASE of an SQL function's body, each until its END.
  let blocks = 0;
  let at = start;
  while (at < text.length) {
    const byte = text[at]!;
    if (byte === 0x3b && parentheses === 0 && blocks === 0) return at + 1;
    if (byte === 0x28) parentheses++;
    if (byte === 0x29 && parentheses > 0) parentheses--;
    const end = endOfPsqlToken(text, at, care);
    if (end === INCOMPLETE) return INCOMPLETE;
    if (isWord(byte) && !isDigit(byte) && !(text[at + 1] === 0x27 && LITERAL_LETTERS.includes(byte))) {
      const word = text.toString('latin1', at, Math.min(end, at + LONGEST_WORD)).toUpperCase();
      if (words++ < 4) opening += `${word} `;
      if (COMPUTED[word]?.test(opening) === true && (word !== 'AS' || parentheses === 0))
        throw badDump('it holds rows that are computed, not written down');
      if (BLOCK_WORDS.includes(word) && parentheses === 0 && ROUTINE.test(opening)) {
        if (word === 'BEGIN' || (word === 'CASE' && blocks > 0)) blocks++;
        if (word === 'END' && blocks > 0) blocks--;
      }
    }
    at = end;
  }
  return INCOMPLETE;
}

function endOfPsqlToken(text: Buffer, start: number, care: Care): number {
  const byte = text[start]!;
  const next = text[start + 1];
  switch (byte) {
    case 0x27:
      return endOfLiteral(text, start, care);
    case 0x22:
      return endOfQuoted(text, start, byte);
    case 0x5c:
      throw badDump('it holds a psql command inside a statement');
    case 0x0d:
      throw badDump('it holds a carriage return outside quotes');
    case 0x2d:
    case 0x2f:
      if (next === undefined) return INCOMPLETE;
      if (next === (byte === 0x2d ? byte : 0x2a)) throw badDump('it holds a comment inside a statement');
      return start + 1;
    case 0x24:
      return endOfDollarQuoted(text, start);
  }
  if (isDigit(byte)) return endOfNumber(text, start);
  return isWord(byte) ? endOfPsqlWord(text, start) : start + 1;
}

/** A literal in which a backslash escapes nothing. */
function endOfLiteral(text: Buffer, start: number, { eitherWay }: Care): number {
  const end = endOfQuoted(text, start, 0x27);
  if (end === INCOMPLETE || !eitherWay) return end;
  const last = end - 1;
  for (
    let quote = text.indexOf(0x27, start + 1);
    quote >= 0 && quote <= last;
    quote = text.indexOf(0x27, quote + 1)
  ) {
    let before = quote;
    while (text[before - 1] === 0x5c) before--;
    if ((quote - before) % 2 === 1) throw badDump('a backslash before a quote may end a literal elsewhere');
  }
  return end;
}

/** Versions of psql differ in where a number ends that runs into a word. */
function endOfNumber(text: Buffer, start: number): number {
  let at = start;
  while (isDigit(text[at]) || text[at] === 0x2e) at++;
  if (text[at] !== undefined && (text[at]! | 0x20) === 0x65) {
    at++;
    if (text[at] === 0x2b || text[at] === 0x2d) at++;
    while (isDigit(text[at])) at++;
  }
  const next = text[at];
  if (next === undefined) return INCOMPLETE;
  if (isWord(next) || next === 0x27 || next === 0x22) throw badDump('a number runs into a word');
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** A word; with `E` before a quote the whole literal with its backslash escapes. */
function endOfPsqlWord(text: Buffer, start: number): number {
  let at = start;
  while (at < text.length && isWord(text[at]!)) at++;
  if (at + 1 >= text.length) return INCOMPLETE;
  const letter = at - start === 1 ? text[start]! | 0x20 : undefined;
  if (letter === 0x75 && text[at] === 0x26 && (text[at + 1] === 0x27 || text[at + 1] === 0x22))
    throw badDump('it holds a literal or name in U& form');
  const escapes = letter === 0x65 && text[at] === 0x27;
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
