import { endOfLiteral } from '../literals.ts';

/** A statement that is longer than this is no work of a dump. */
const LONGEST = 256 * 1024 * 1024;

const NEWLINE = 0x0a;
const DOUBLE_QUOTE = 0x22;
const QUOTE = 0x27;
const DASH = 0x2d;
const SEMICOLON = 0x3b;

/**
 * Cuts SQL text into statements, without their semicolon. Literals, quoted names and `--` comments may hold
 * semicolons.
 */
export class StatementSplitter {
  #rest: Buffer = Buffer.alloc(0);
  /** Where the scan of `#rest` goes on. */
  #at = 0;

  /** The statements that this chunk completes. @throws RangeError for an endless one */
  push(chunk: Uint8Array): Buffer[] {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const statements: Buffer[] = [];
    let start = 0;
    let at = this.#at;
    for (;;) {
      const next = nextEnd(bytes, at);
      if (!next.found) {
        at = next.resume;
        break;
      }
      const statement = withoutComments(bytes.subarray(start, next.at));
      at = next.at + 1;
      statements.push(statement);
      start = at;
    }
    this.#rest = bytes.subarray(start);
    this.#at = at - start;
    if (this.#rest.length > LONGEST) throw new RangeError('a statement does not end');
    return statements;
  }

  /** What stands after the last statement. */
  end(): string {
    return this.#rest.toString('utf8');
  }
}

type End = { found: true; at: number } | { found: false; resume: number };

/** The next semicolon outside of literals, names and comments; or where to go on with more bytes. */
function nextEnd(bytes: Buffer, from: number): End {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === SEMICOLON) return { found: true, at };
    if (byte === QUOTE) {
      const end = endOfLiteral(bytes, at);
      // A quote at the very end may be the first of two.
      if (end === -1 || end === bytes.length) return { found: false, resume: at };
      at = end;
    } else if (byte === DOUBLE_QUOTE) {
      const end = bytes.indexOf(DOUBLE_QUOTE, at + 1);
      if (end === -1) return { found: false, resume: at };
      at = end + 1;
    } else if (byte === DASH) {
      if (at + 1 === bytes.length) return { found: false, resume: at };
      if (bytes[at + 1] === DASH) {
        const end = bytes.indexOf(NEWLINE, at);
        if (end === -1) return { found: false, resume: at };
        at = end + 1;
      } else at++;
    } else at++;
  }
  return { found: false, resume: at };
}

/** Without blanks and whole comment lines before it. */
function withoutComments(statement: Buffer): Buffer {
  let at = 0;
  for (;;) {
    while (at < statement.length && statement[at]! <= 0x20 && statement[at] !== 0) at++;
    if (statement[at] !== DASH || statement[at + 1] !== DASH) return statement.subarray(at);
    const end = statement.indexOf(NEWLINE, at);
    if (end === -1) return statement.subarray(statement.length);
    at = end + 1;
  }
}
