import { createHash } from 'node:crypto';
import type { FileDigest, SetHandle, WorkOptions } from '../contract.ts';

/** The result of reading a file once. */
export interface ReadThrough<T> {
  digest: FileDigest;
  /** The result of the reader, or its error. */
  read: { outcome: 'read'; value: T } | { outcome: 'failed'; error: unknown };
}

/**
 * Reads a file once from its first byte to its last, hashes it and passes it to `reader`. The hash covers the whole
 * file even if the reader stops early.
 *
 * @throws IDKIT_DAMAGED if the file cannot be read, and the reason of an aborted signal
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
  // The iterator has no return(), because reading must continue after the reader has stopped.
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
