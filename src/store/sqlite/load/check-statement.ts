import { findDefinition, isPlainDefinition } from '../../../backupset/index.ts';
import { endOfLiteral } from '../literals.ts';

const NAME = `(?:"(?:[^"]|"")+"|[A-Za-z_][A-Za-z0-9_]*)`;
const PRAGMA = /^PRAGMA\s+(?:foreign_keys\s*=\s*OFF|(?:user_version|application_id)\s*=\s*-?\d{1,10})\s*$/i;
const INSERT = new RegExp(
  String.raw`^INSERT\s+INTO\s+${NAME}\s*\(\s*${NAME}(?:\s*,\s*${NAME})*\s*\)\s*VALUES\s*`,
  'i',
);
const WORDS: ReadonlySet<string> = new Set(['NULL', 'X', 'CAST', 'AS', 'TEXT', 'E']);
const HEAD_BYTES = 64 * 1024;
const QUOTE = 0x27;
const DASH = 0x2d;

export type StatementKind = 'pragma' | 'begin' | 'commit' | 'create' | 'insert';

/** Returns the kind of a permitted statement (docs/reference/files.md#the-dump), or undefined for any other. */
export function statementKind(statement: Buffer): StatementKind | undefined {
  if (statement.includes(0)) return undefined;
  const head = statement.toString('latin1', 0, HEAD_BYTES);
  if (/^INSERT\s/i.test(head)) return isPlainInsert(statement, head) ? 'insert' : undefined;
  if (/^BEGIN(?:\s+TRANSACTION)?\s*$/i.test(head)) return 'begin';
  if (/^COMMIT\s*$/i.test(head)) return 'commit';
  if (PRAGMA.test(head)) return 'pragma';
  const text = statement.toString('latin1');
  // A trigger runs statements, so only the triggers that idkit itself creates are loaded.
  if (isPlainDefinition(text) || findDefinition(text.trimEnd()) !== undefined) return 'create';
  return undefined;
}

/** Reports whether an INSERT contains only literals, that is, no function, query or comment. */
function isPlainInsert(statement: Buffer, head: string): boolean {
  const start = INSERT.exec(head)?.[0].length;
  if (start === undefined || start === statement.length) return false;
  let at = start;
  while (at < statement.length) {
    const byte = statement[at]!;
    if (byte === QUOTE) {
      at = endOfLiteral(statement, at);
      if (at === -1) return false;
    } else if (isLetter(byte)) {
      let end = at + 1;
      while (end < statement.length && isLetter(statement[end]!)) end++;
      if (!WORDS.has(statement.toString('latin1', at, end).toUpperCase())) return false;
      at = end;
    } else if (isPlain(byte) && !(byte === DASH && statement[at + 1] === DASH)) at++;
    else return false;
  }
  return true;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** Reports whether a byte is a digit, one of `(),.+-`, or white space. */
function isPlain(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x28 ||
    byte === 0x29 ||
    (byte >= 0x2b && byte <= 0x2e) ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  );
}
