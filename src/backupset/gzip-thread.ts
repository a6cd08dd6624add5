import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
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

/** Below the service's threads and the reading of the dump: a backup must not be felt (nice, 0 to 19). */
const NICENESS = 10;

if (parentPort !== null) {
  const port = parentPort;
  try {
    // Process 0 is the calling thread where the system counts priorities by thread (Linux).
    if (process.platform === 'linux') setPriority(0, Math.max(NICENESS, getPriority(0)));
  } catch {
    // A sandbox may forbid it; the work is the same.
  }
  port.on('message', (job: GzipJob) => {
    const { id, memory } = job;
    const output = deflateBlock(job);
    const fits = output.length <= memory.byteLength;
    if (fits) new Uint8Array(memory).set(output);
    const done: GzipJobDone = { id, memory, output: fits ? { bytes: output.length } : { apart: output } };
    port.postMessage(done, [memory]);
  });
}
