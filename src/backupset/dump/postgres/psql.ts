import { printable } from '../../faults.ts';
import { after, endOfQuoted, isWord } from '../statement.ts';
import { type BadDump, badDump, countLines, INCOMPLETE } from '../window.ts';

/** The beginning of the message about a statement that neither idkit nor Keycloak needs. */
export const FOREIGN_STATEMENT = 'pg_dump does not write this statement for idkit or Keycloak';

const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const DASH = 0x2d;
const DOLLAR = 0x24;
const SPACE = 0x20;
const SLASH = 0x2f;

/**
 * Finds the end of the Postgres statement that begins at `start`, where psql would find it: the offset after a
 * semicolon outside quotes and parentheses, or INCOMPLETE. Rejects text that versions of psql read in different ways,
 * which pg_dump never writes for these schemas.
 *
 * @throws IDKIT_DAMAGED, including for a backslash outside quotes, which psql executes as a command
 */
export function endOfPsqlStatement(text: Buffer, start: number): number {
  let parentheses = 0;
  let at = start;
  while (at < text.length) {
    const byte = text[at]!;
    if (byte === 0x3b && parentheses === 0) return at + 1;
    if (byte === 0x28) parentheses++;
    if (byte === 0x29 && parentheses > 0) parentheses--;
    if (byte === DOLLAR && text[at + 1] === DOLLAR && text[at - 1] === SPACE) {
      at = after(text, '$$', at + 2);
    } else if (byte === QUOTE || byte === DOUBLE_QUOTE) {
      if (at > start && (isWord(text[at - 1]!) || text[at - 1] === 0x26))
        throw strange(text, start, at, 'a literal or name with a prefix');
      at = endOfQuoted(text, at, byte);
    } else {
      if (at + 1 === text.length) return INCOMPLETE;
      const what = findStrange(byte, text[at + 1]!);
      if (what !== undefined) throw strange(text, start, at, what);
      at++;
    }
    if (at === INCOMPLETE) return INCOMPLETE;
  }
  return INCOMPLETE;
}

function strange(text: Buffer, start: number, at: number, what: string): BadDump {
  const begun = beginningOf(text.toString('utf8', start, Math.min(text.length, start + 240)));
  return badDump(`${FOREIGN_STATEMENT}: ${printable(begun)}, with ${what}`, countLines(text, start, at));
}

/** Describes a character that has a special meaning for psql or Postgres. */
function findStrange(byte: number, next: number): string | undefined {
  if (byte === 0x5c) return 'a psql command';
  if (byte === 0x0d) return 'a carriage return outside quotes';
  if (byte === 0x24) return 'a dollar sign outside quotes';
  const comments = (byte === DASH && next === DASH) || (byte === SLASH && next === 0x2a);
  return comments ? 'a comment inside it' : undefined;
}

/** @param at the offset in the statement at which it differs from what pg_dump writes */
export function foreignStatement(statement: string, at: number): BadDump {
  const rest = oneLine(statement.slice(at, at + 40));
  const where = at < 20 || holdsValues(statement) ? '' : `, at ${rest === '' ? 'its end' : printable(rest)}`;
  return badDump(
    `${FOREIGN_STATEMENT}: ${printable(beginningOf(statement))}${where}`,
    statement.slice(0, at).split('\n').length - 1,
  );
}

/** Omits the values of an INSERT, which may be secrets. */
function beginningOf(statement: string): string {
  return oneLine(statement.slice(0, 60)).replace(/\bVALUES\b.*/i, 'VALUES');
}

function holdsValues(statement: string): boolean {
  return /^INSERT\b/i.test(statement);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
