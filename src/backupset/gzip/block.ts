import { constants, deflateRawSync } from 'node:zlib';

/** Maximum distance in bytes of a back-reference in deflate (RFC 1951 §2). */
export const WINDOW_BYTES = 32 * 1024;

/** One block to compress. Its memory is transferred to the thread and returned with the output. */
export interface GzipJob {
  id: number;
  level: number;
  /** The block begins at offset `WINDOW_BYTES`. The text before it ends at the same offset. */
  memory: ArrayBuffer;
  /** Number of bytes of preceding text that the block can refer back to. */
  before: number;
  bytes: number;
}

export interface GzipJobDone {
  id: number;
  memory: ArrayBuffer;
  /** The output is at the beginning of the memory, or in `apart` if it does not fit there. */
  output: { bytes: number } | { apart: Uint8Array<ArrayBuffer> };
}

/** Compresses one block of a raw deflate stream. It ends on a byte boundary, so that blocks can be joined. */
export function deflateBlock(job: Omit<GzipJob, 'id'>): Uint8Array<ArrayBuffer> {
  const { level, memory, before, bytes } = job;
  return deflateRawSync(new Uint8Array(memory, WINDOW_BYTES, bytes), {
    level,
    memLevel: 9,
    // One chunk for the whole output, so that nothing has to be joined. It must not be in the pool of Node.js, because
    // the thread frees it.
    chunkSize: Math.max(bytes, 2 * Buffer.poolSize),
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(before === 0 ? {} : { dictionary: new Uint8Array(memory, WINDOW_BYTES - before, before) }),
  });
}
