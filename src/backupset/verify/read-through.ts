import { createHash } from 'node:crypto';
import type { FileDigest, SetHandle, WorkOptions } from '../contract.ts';

/** What one reading of a file told. */
export interface ReadThrough<T> {
  digest: FileDigest;
  /** What the reader made of the content, or why it could not. */
  read: { outcome: 'read'; value: T } | { outcome: 'failed'; error: unknown };
}

/**
 * Reads a file once, from its first byte to its last: hashed, and handed to `reader` on the way. Where the reader
 * gives up early the hash still covers the whole file.
 *
 * @throws IDKIT_DAMAGED where the file itself cannot be read; what the signal throws
 */
export async function readThrough<T>(
  set: SetHandle,
  name: string,
  reader: (content: AsyncIterable<Buffer>) => Promise<T>,
  options: WorkOptions,
): Promise<ReadThrough<T>> {
  const hash = createHash('sha256');
  let bytes = 0;
  let fault: { error: unknown } | undefined;
  const iterator = set.stream(name, options)[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Buffer>> => {
    try {
      const result = await iterator.next();
      if (result.done !== true) {
        hash.update(result.value);
        bytes += result.value.length;
      }
      return result;
    } catch (error) {
      fault = { error };
      throw error;
    }
  };
  // It has no return(): a reader that stops must not end the reading.
  const content: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => ({ next }) };
  const read = await outcomeOf(reader(content));
  if (fault !== undefined) throw fault.error;
  while ((await next()).done !== true);
  return { digest: { bytes, sha256: hash.digest('hex') }, read };
}

async function outcomeOf<T>(work: Promise<T>): Promise<ReadThrough<T>['read']> {
  try {
    return { outcome: 'read', value: await work };
  } catch (error) {
    return { outcome: 'failed', error };
  }
}
