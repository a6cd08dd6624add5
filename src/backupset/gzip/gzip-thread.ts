import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { deflateBlock, type GzipJob, type GzipJobDone } from './block.ts';

/**
 * Niceness from 0 to 19. The thread yields to the service and to the reader of the dump, so that a backup does not
 * slow them down.
 */
const NICENESS = 10;

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
try {
  // Linux has priorities per thread, and process 0 means the calling thread.
  if (process.platform === 'linux') setPriority(0, Math.max(NICENESS, getPriority(0)));
} catch {
  // If a sandbox forbids the change, the thread keeps its priority.
}
port.on('message', (job: GzipJob) => {
  const { id, memory } = job;
  const output = deflateBlock(job);
  const fits = output.length <= memory.byteLength;
  const done: GzipJobDone = { id, memory, output: fits ? { bytes: output.length } : { apart: output } };
  if (fits) {
    new Uint8Array(memory).set(output);
    // Frees the output now instead of at the next garbage collection, which can be many blocks later.
    output.buffer.transfer(0);
  }
  port.postMessage(done, [memory]);
});
