import { isInsideTrigger } from '../../../backupset/index.ts';
import { endOfLiteral } from '../literals.ts';

/** Maximum length of a statement in bytes. Dumps of idkit contain only shorter ones. */
const LONGEST = 256 * 1024 * 1024;

const NEWLINE = 0x0a;
const DOUBLE_QUOTE = 0x22;
const QUOTE = 0x27;
const DASH = 0x2d;
const SEMICOLON = 0x3b;

/**
 * Splits SQL text into statements, without their semicolons. A semicolon inside a literal, a quoted name or a `--`
 * comment does not end a statement. A trigger ends with `END;`.
 */
export class StatementSplitter {
  /** The memory of the text. It is reused, because the garbage of a large dump would fill the memory. */
  #memory: Buffer = Buffer.alloc(0);
  /** The unfinished statement in `#memory` begins at `#start` and ends at `#held`. */
  #start = 0;
  #held = 0;
  /** The position in `#memory` at which the scan continues. */
  #at = 0;

  /**
   * Returns the statements that end in this chunk. They are valid until the next call.
   *
   * @throws RangeError if a statement is longer than `LONGEST`
   */
  push(chunk: Uint8Array): Buffer[] {
    const bytes = this.#append(chunk);
    const statements: Buffer[] = [];
    let start = 0;
    let at = this.#at;
    for (;;) {
      const next = nextEnd(bytes, at);
      if (!next.complete) {
        at = next.resume;
        break;
      }
      const statement = withoutComments(bytes.subarray(start, next.at));
      at = next.at + 1;
      if (isInsideTrigger(statement)) continue;
      statements.push(statement);
      start = at;
    }
    this.#start = start;
    this.#at = at - start;
    if (bytes.length - start > LONGEST)
      throw new RangeError('the dump contains a statement that does not end');
    return statements;
  }

  /** Moves the unfinished statement to the start of the memory, and adds the chunk. */
  #append(chunk: Uint8Array): Buffer {
    const rest = this.#memory.subarray(this.#start, this.#held);
    const end = rest.length + chunk.length;
    const target = this.#memory.length < end ? Buffer.allocUnsafeSlow(2 * end) : this.#memory;
    // `set` copies correctly even if source and target overlap.
    target.set(rest);
    target.set(chunk, rest.length);
    this.#memory = target;
    this.#start = 0;
    this.#held = end;
    return target.subarray(0, end);
  }

  /** Returns the text after the last statement. */
  end(): string {
    return this.#memory.toString('utf8', this.#start, this.#held);
  }
}

type End = { complete: true; at: number } | { complete: false; resume: number };

/**
 * Finds the next semicolon outside literals, names and comments. If there is none yet, returns the position at which
 * to resume with more bytes.
 */
function nextEnd(bytes: Buffer, from: number): End {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === SEMICOLON) return { complete: true, at };
    if (byte === QUOTE) {
      const end = endOfLiteral(bytes, at);
      // A quote at the end may be the first of two, so the search needs more bytes.
      if (end === -1 || end === bytes.length) return { complete: false, resume: at };
      at = end;
    } else if (byte === DOUBLE_QUOTE) {
      const end = bytes.indexOf(DOUBLE_QUOTE, at + 1);
      if (end === -1) return { complete: false, resume: at };
      at = end + 1;
    } else if (byte === DASH) {
      if (at + 1 === bytes.length) return { complete: false, resume: at };
      if (bytes[at + 1] === DASH) {
        const end = bytes.indexOf(NEWLINE, at);
        if (end === -1) return { complete: false, resume: at };
        at = end + 1;
      } else at++;
    } else at++;
  }
  return { complete: false, resume: at };
}

/** Removes leading white space and comment lines. */
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
