import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { deflateBlock, type GzipJob, type GzipJobDone } from './block.ts';

/** Below the service's threads and the reading of the dump: a backup must not be felt (nice, 0 to 19). */
const NICENESS = 10;

const port = parentPort!;
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
