import { IdkitError } from '../../core/index.ts';
import { SET_FILES } from '../contract.ts';

/** What a scanner answers where the text at hand ends before the thing it reads does. */
export const INCOMPLETE = -1;

/** A fault of the dump. */
export class BadDump extends IdkitError {
  readonly why: string;
  /** Lines between the beginning of what was read and the fault. */
  readonly linesOn: number;

  constructor(why: string, linesOn = 0) {
    super('IDKIT_DAMAGED', `${SET_FILES.dump}: ${why}`);
    this.why = why;
    this.linesOn = linesOn;
  }

  /** The same, with the line that it was found in; `line` is where what was read begins. */
  atLine(line: number): BadDump {
    return new BadDump(`line ${line + this.linesOn}: ${this.why}`);
  }
}

/** A fault of the dump. @param linesOn lines between the beginning of what was read and the fault */
export function badDump(why: string, linesOn?: number): BadDump {
  return new BadDump(why, linesOn);
}

/** How many lines end between two places. */
export function countLines(text: Uint8Array, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) if (text[at] === 0x0a) lines++;
  return lines;
}

/**
 * Hands a scanner its text in pieces that begin where the last complete thing ended. A piece that was too short is
 * offered again only when it has doubled, so that a long literal costs no more than its length.
 */
export class DumpWindow {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  /** Where pieces are put together, again and again: a dump is read faster than memory for each would be given back. */
  #joined = Buffer.alloc(0);
  #held = 0;
  #needed = 0;
  /** Bytes seen in all. */
  bytes = 0;

  /** @param limit bytes that one complete thing may take */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Offers the text to `scan`, which says how many bytes of it are done with. */
  push(chunk: Uint8Array, scan: (text: Buffer) => number): void {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held >= this.#needed) this.#offer(scan);
  }

  /** Offers what is left once more; returns it where it stays unused. */
  rest(scan: (text: Buffer) => number): Buffer {
    if (this.#held > 0) this.#offer(scan);
    return Buffer.concat(this.#chunks);
  }

  #offer(scan: (text: Buffer) => number): void {
    const text = this.#join();
    const left = text.subarray(scan(text));
    if (left.length > this.#limit) throw badDump(`a statement or row is longer than ${this.#limit} bytes`);
    this.#chunks = left.length === 0 ? [] : [left];
    this.#held = left.length;
    // Small leftovers need only the next chunk.
    this.#needed = left.length < 65_536 ? 0 : left.length * 2;
  }

  #join(): Buffer {
    const [first, second] = this.#chunks;
    if (first !== undefined && second === undefined)
      return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
    if (this.#joined.length < this.#held) this.#joined = Buffer.allocUnsafeSlow(2 * this.#held);
    let end = 0;
    // The first piece may lie in the very memory, never before its own new place.
    for (const chunk of this.#chunks) {
      this.#joined.set(chunk, end);
      end += chunk.length;
    }
    return this.#joined.subarray(0, end);
  }
}
