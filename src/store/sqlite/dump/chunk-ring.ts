/** Bytes of SQL that are handed over at once. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKS = 16;
/** One counter: chunks that the reader has not given back. */
const HEAD_BYTES = 64;

/** Memory for a dump on its way from one thread to another: used again and again, so that none is ever collected. */
export function newRing(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + CHUNKS * CHUNK_BYTES);
}

/** A chunk by its number: 0, 1, 2 … */
function chunkAt(memory: SharedArrayBuffer, number: number, length: number): Uint8Array {
  return new Uint8Array(memory, HEAD_BYTES + (number % CHUNKS) * CHUNK_BYTES, length);
}

/** The thread that writes. */
export class RingWriter {
  readonly #memory: SharedArrayBuffer;
  readonly #taken: Int32Array;
  readonly #filled: (number: number, length: number) => void;
  #number = 0;
  #chunk: Uint8Array;
  #length = 0;

  /** @param filled tells the reader of each chunk, by its number */
  constructor(memory: SharedArrayBuffer, filled: (number: number, length: number) => void) {
    this.#memory = memory;
    this.#taken = new Int32Array(memory, 0, 1);
    this.#filled = filled;
    this.#chunk = chunkAt(memory, 0, CHUNK_BYTES);
  }

  /** Waits, as a thread of its own may, until the reader has given back enough. */
  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const part = Math.min(bytes.length - done, CHUNK_BYTES - this.#length);
      this.#chunk.set(bytes.subarray(done, done + part), this.#length);
      this.#length += part;
      done += part;
      if (this.#length === CHUNK_BYTES) this.flush();
    }
  }

  /** Hands over what there is. */
  flush(): void {
    if (this.#length === 0) return;
    Atomics.add(this.#taken, 0, 1);
    this.#filled(this.#number, this.#length);
    this.#number += 1;
    this.#length = 0;
    for (let taken = Atomics.load(this.#taken, 0); taken >= CHUNKS; taken = Atomics.load(this.#taken, 0))
      Atomics.wait(this.#taken, 0, taken);
    this.#chunk = chunkAt(this.#memory, this.#number, CHUNK_BYTES);
  }
}

/** The thread that reads, chunk by chunk in order. */
export class RingReader {
  readonly #memory: SharedArrayBuffer;
  readonly #taken: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.#taken = new Int32Array(memory, 0, 1);
  }

  /** The chunk's own memory, to be read before it is given back. */
  chunk(number: number, length: number): Uint8Array {
    return chunkAt(this.#memory, number, length);
  }

  /** Gives back the oldest chunk. */
  release(): void {
    Atomics.sub(this.#taken, 0, 1);
    Atomics.notify(this.#taken, 0);
  }
}
