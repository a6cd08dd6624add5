import { IdkitError } from '../../core/index.ts';
import { SET_FILES } from '../contract.ts';

/** Returned by a scanner if the text ends before the element does. */
export const INCOMPLETE = -1;

/** The error for a damaged dump. */
export class BadDump extends IdkitError {
  readonly why: string;
  /** Number of line breaks between the beginning of the element and the fault. */
  readonly linesAfter: number;

  constructor(why: string, linesAfter = 0) {
    super('IDKIT_DAMAGED', `${SET_FILES.dump}: ${why}`);
    this.why = why;
    this.linesAfter = linesAfter;
  }

  /** Returns the same error with its line number. `line` is the line on which the element begins. */
  atLine(line: number): BadDump {
    return new BadDump(`line ${line + this.linesAfter}: ${this.why}`);
  }
}

/** @param linesAfter number of line breaks between the beginning of the element and the fault */
export function badDump(why: string, linesAfter?: number): BadDump {
  return new BadDump(why, linesAfter);
}

export const LINE_END = 0x0a;

/** Counts the line breaks between two offsets. */
export function countLines(text: Buffer, from: number, to: number): number {
  // `indexOf` is several times as fast as a loop over the bytes. In a part of the text it does not search beyond `to`.
  const part = text.subarray(from, to);
  let lines = 0;
  for (let at = part.indexOf(LINE_END); at >= 0; at = part.indexOf(LINE_END, at + 1)) lines++;
  return lines;
}

/** Counts the lines of a text that is read in pieces. It counts each byte once, however often it reports a line. */
export class LineCounter {
  #line = 1;
  #counted = 0;

  /** Returns the line of an offset in the current piece. The offset must not precede an earlier one. */
  lineAt(text: Buffer, offset: number): number {
    this.#line += countLines(text, this.#counted, offset);
    this.#counted = offset;
    return this.#line;
  }

  /** Ends a piece: the next one begins at `offset`. */
  endPiece(text: Buffer, offset: number): void {
    this.lineAt(text, offset);
    this.#counted = 0;
  }
}

/**
 * Passes text to a scanner in pieces. A piece begins where the last complete element ended. A piece that was too short
 * is passed again only when it has doubled, so that the cost of a long literal is proportional to its length. The window
 * keeps no chunk after `push`, so the caller may reuse its memory.
 */
export class DumpWindow {
  readonly #limit: number;
  /** Text that was not used yet. The memory is reused, because garbage collection is slower than reading a dump. */
  #memory = Buffer.alloc(0);
  #held = 0;
  #needed = 0;
  /** The number of bytes received so far. */
  bytes = 0;

  /** @param limit maximum size of an element in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Passes the text to `scan`, which returns how many bytes it has used. */
  push(chunk: Uint8Array, scan: (text: Buffer) => number): void {
    this.bytes += chunk.length;
    if (this.#held === 0) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#keep(text.subarray(scan(text)));
      return;
    }
    this.#append(chunk);
    if (this.#held >= this.#needed) this.#offer(scan);
  }

  /** Passes the remaining text to `scan` once more, and returns the bytes that it did not use. */
  rest(scan: (text: Buffer) => number): Buffer {
    if (this.#held > 0) this.#offer(scan);
    return this.#memory.subarray(0, this.#held);
  }

  #offer(scan: (text: Buffer) => number): void {
    const text = this.#memory.subarray(0, this.#held);
    this.#keep(text.subarray(scan(text)));
  }

  /** Keeps the bytes that a scan did not use. They may be in the window's own memory. */
  #keep(left: Buffer): void {
    if (left.length > this.#limit) throw badDump(`a statement or row is longer than ${this.#limit} bytes`);
    this.#held = 0;
    this.#append(left);
    // A short remainder is scanned again with the next chunk. A long one waits until twice as many bytes are held, so
    // it is not scanned again for each chunk.
    this.#needed = left.length < 65_536 ? 0 : left.length * 2;
  }

  #append(bytes: Uint8Array): void {
    const end = this.#held + bytes.length;
    if (this.#memory.length < end) {
      const larger = Buffer.allocUnsafeSlow(2 * end);
      larger.set(this.#memory.subarray(0, this.#held));
      this.#memory = larger;
    }
    // `set` copies correctly even if source and target overlap.
    this.#memory.set(bytes, this.#held);
    this.#held = end;
  }
}
