const NOTHING: Buffer = Buffer.alloc(0);

/** Reads the bytes of a stream in the pieces that a parser needs, without holding more than one chunk. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunk: Buffer = NOTHING;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns at least one and at most `limit` bytes. Returns no bytes at the end of the stream. */
  async some(limit: number): Promise<Buffer> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return NOTHING;
      const { buffer, byteOffset, byteLength } = next.value;
      this.#chunk = Buffer.from(buffer, byteOffset, byteLength);
    }
    const piece = this.#chunk.subarray(0, limit);
    this.#chunk = this.#chunk.subarray(piece.length);
    return piece;
  }

  /** Returns exactly `length` bytes, or undefined if the stream ends earlier. */
  async exactly(length: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const piece = await this.some(left);
      if (piece.length === 0) return undefined;
      pieces.push(piece);
      left -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** Ends the source early. */
  async stop(): Promise<void> {
    await this.#source.return?.();
  }
}
