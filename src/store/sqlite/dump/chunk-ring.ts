/** Size of a chunk in bytes. */
const CHUNK_BYTES = 256 * 1024;
const CHUNKS = 8;
/** Size in bytes of the head, which contains the number of chunks that the reader has not released. */
const HEAD_BYTES = 64;

/**
 * Creates the memory through which one thread sends a dump to another. The threads reuse its chunks, which avoids
 * garbage.
 */
export function newRing(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + CHUNKS * CHUNK_BYTES);
}

/** Returns the memory of a chunk by its number: 0, 1, 2 … */
function chunkAt(memory: SharedArrayBuffer, number: number, length: number): Uint8Array {
  return new Uint8Array(memory, HEAD_BYTES + (number % CHUNKS) * CHUNK_BYTES, length);
}

/** The interface of the writing thread. */
export class RingWriter {
  readonly #memory: SharedArrayBuffer;
  readonly #taken: Int32Array;
  readonly #filled: (number: number, length: number) => void;
  #number = 0;
  #chunk: Uint8Array;
  #length = 0;

  /** @param filled called with the number and length of each chunk that is ready to be read */
  constructor(memory: SharedArrayBuffer, filled: (number: number, length: number) => void) {
    this.#memory = memory;
    this.#taken = new Int32Array(memory, 0, 1);
    this.#filled = filled;
    this.#chunk = chunkAt(memory, 0, CHUNK_BYTES);
  }

  /** Writes bytes. Blocks the thread while all chunks are in use. */
  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const part = Math.min(bytes.length - done, CHUNK_BYTES - this.#length);
      this.#chunk.set(bytes.subarray(done, done + part), this.#length);
      this.#length += part;
      done += part;
      if (this.#length === CHUNK_BYTES) this.flush();
    }
  }

  /** Passes the current chunk to the reader. Blocks the thread while all chunks are in use. */
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

/** The interface of the reading thread. It must release the chunks in order. */
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
