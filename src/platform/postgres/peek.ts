/** Number of bytes at the start of a dump in which idkit's own comments are. */
const HEAD_BYTES = 64 * 1024;

/** Reads the beginning of a dump. Returns it, and an iterator over the whole dump. */
export async function peek(
  sql: AsyncIterable<Uint8Array>,
): Promise<{ head: string; whole: AsyncIterable<Uint8Array> }> {
  const iterator = sql[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let over = false;
  while (bytes < HEAD_BYTES && !over) {
    const { done, value } = await iterator.next();
    over = done === true;
    if (value === undefined) break;
    chunks.push(value);
    bytes += value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* chunks;
    if (!over) yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: Buffer.concat(chunks).toString('utf8', 0, HEAD_BYTES), whole: whole() };
}
