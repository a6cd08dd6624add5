import { isUtf8 } from 'node:buffer';

const QUOTE = 0x27;
const CR = 0x0d;
const NUL = 0;

/**
 * Replaces each text literal that is not valid UTF-8 with `CAST(X'…' AS TEXT)`, which stores the same bytes. The
 * statement can then be passed to SQLite as a string.
 */
export function withoutInvalidText(statement: Buffer): Buffer {
  return isUtf8(statement) ? statement : castLiterals(statement, (literal) => !isUtf8(literal));
}

/**
 * Replaces each text literal that some readers of SQL would change. The replacement, `CAST(X'…' AS TEXT)`, stores the
 * same bytes. Such a literal contains invalid UTF-8, NUL (which ends SQL text) or CR (which the sqlite3 program drops
 * before LF, measured with 3.40).
 */
export function withoutFragileText(rows: Buffer): Buffer {
  return isFragile(rows) ? castLiterals(rows, isFragile) : rows;
}

function isFragile(text: Buffer): boolean {
  return text.includes(NUL) || text.includes(CR) || !isUtf8(text);
}

function castLiterals(statement: Buffer, mustCast: (literal: Buffer) => boolean): Buffer {
  const parts: Buffer[] = [];
  let done = 0;
  for (let at = statement.indexOf(QUOTE); at !== -1; at = statement.indexOf(QUOTE, done)) {
    const end = endOfLiteral(statement, at);
    if (end === -1) break;
    const literal = statement.subarray(at, end);
    parts.push(statement.subarray(done, at), mustCast(literal) ? hexCast(literal) : literal);
    done = end;
  }
  parts.push(statement.subarray(done));
  return Buffer.concat(parts);
}

/** Returns the position after the closing quote of the literal that starts at `at`, or -1 if it is not closed. */
export function endOfLiteral(bytes: Buffer, at: number): number {
  for (let end = bytes.indexOf(QUOTE, at + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 2)) {
    if (bytes[end + 1] !== QUOTE) return end + 1;
  }
  return -1;
}

function hexCast(literal: Buffer): Buffer {
  const bytes = Buffer.alloc(literal.length - 2);
  let length = 0;
  for (let i = 1; i < literal.length - 1; i++) {
    const byte = literal[i]!;
    bytes[length++] = byte;
    if (byte === QUOTE) i++;
  }
  return Buffer.from(`CAST(X'${bytes.toString('hex', 0, length)}' AS TEXT)`);
}
