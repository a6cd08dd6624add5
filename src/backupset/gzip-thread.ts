import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { constants, deflateRawSync } from 'node:zlib';

/** One block to compress; `dictionary` is the text before it, so that blocks of one member refer back. */
export interface GzipJob {
  id: number;
  level: number;
  block: Uint8Array<ArrayBuffer>;
  dictionary: Uint8Array<ArrayBuffer> | undefined;
}

export interface GzipJobDone {
  id: number;
  output: Uint8Array<ArrayBuffer>;
}

/** One block of a raw deflate stream, ended on a byte boundary so that blocks can be joined. */
export function deflateBlock(job: Omit<GzipJob, 'id'>): Uint8Array<ArrayBuffer> {
  return deflateRawSync(job.block, {
    level: job.level,
    memLevel: 9,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(job.dictionary === undefined ? {} : { dictionary: job.dictionary }),
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
    const output = deflateBlock(job);
    const done: GzipJobDone = { id: job.id, output };
    // A pooled buffer must not be moved away with its neighbours.
    const own = output.byteOffset === 0 && output.byteLength === output.buffer.byteLength;
    port.postMessage(done, own ? [output.buffer] : []);
  });
}
