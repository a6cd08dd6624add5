/** Size of a chunk in bytes. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKS = 16;
/** One counter: the number of chunks that the reader has not released. */
const HEAD_BYTES = 64;

/** Creates the memory through which one thread sends a dump to another. The threads reuse it, which avoids garbage. */
export function newRing(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + CHUNKS * CHUNK_BYTES);
}

/** Returns a chunk by its number: 0, 1, 2 … */
function chunkAt(memory: SharedArrayBuffer, number: number, length: number): Uint8Array {
  return new Uint8Array(memory, HEAD_BYTES + (number % CHUNKS) * CHUNK_BYTES, length);
}

/** The side of the writing thread. */
export class RingWriter {
  readonly #memory: SharedArrayBuffer;
  readonly #taken: Int32Array;
  readonly #filled: (number: number, length: number) => void;
  #number = 0;
  #chunk: Uint8Array;
  #length = 0;

  /** @param filled notifies the reader of each chunk, by its number */
  constructor(memory: SharedArrayBuffer, filled: (number: number, length: number) => void) {
    this.#memory = memory;
    this.#taken = new Int32Array(memory, 0, 1);
    this.#filled = filled;
    this.#chunk = chunkAt(memory, 0, CHUNK_BYTES);
  }

  /** Blocks the thread until the reader has released enough chunks. */
  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const part = Math.min(bytes.length - done, CHUNK_BYTES - this.#length);
      this.#chunk.set(bytes.subarray(done, done + part), this.#length);
      this.#length += part;
      done += part;
      if (this.#length === CHUNK_BYTES) this.flush();
    }
  }

  /** Hands over the current chunk. */
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

/** The side of the reading thread, chunk by chunk in order. */
export class RingReader {
  readonly #memory: SharedArrayBuffer;
  readonly #taken: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.#taken = new Int32Array(memory, 0, 1);
  }

  /** Returns the memory of a chunk, which is valid until the chunk is released. */
  chunk(number: number, length: number): Uint8Array {
    return chunkAt(this.#memory, number, length);
  }

  /** Releases the oldest chunk. */
  release(): void {
    Atomics.sub(this.#taken, 0, 1);
    Atomics.notify(this.#taken, 0);
  }
}
