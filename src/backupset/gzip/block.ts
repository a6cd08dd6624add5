import { constants, deflateRawSync } from 'node:zlib';

/** How far deflate refers back (RFC 1951 §2). */
export const WINDOW_BYTES = 32 * 1024;

/** One block to compress, in memory that goes to the thread and comes back with the output in it. */
export interface GzipJob {
  id: number;
  level: number;
  /** The text before the block ends at `WINDOW_BYTES`, the block begins there. */
  memory: ArrayBuffer;
  /** Bytes of the text before, so that blocks of one member refer back. */
  before: number;
  bytes: number;
}

export interface GzipJobDone {
  id: number;
  memory: ArrayBuffer;
  /** At the beginning of the memory; apart where it does not fit. */
  output: { bytes: number } | { apart: Uint8Array<ArrayBuffer> };
}

/** One block of a raw deflate stream, ended on a byte boundary so that blocks can be joined. */
export function deflateBlock(job: Omit<GzipJob, 'id'>): Uint8Array<ArrayBuffer> {
  const { level, memory, before, bytes } = job;
  return deflateRawSync(new Uint8Array(memory, WINDOW_BYTES, bytes), {
    level,
    memLevel: 9,
    chunkSize: 128 * 1024,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(before === 0 ? {} : { dictionary: new Uint8Array(memory, WINDOW_BYTES - before, before) }),
  });
}
