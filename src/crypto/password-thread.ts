import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { doHashJob, type HashJob } from './password-hashes.ts';

/** One step of ten below the rest: signing and `/health/ready` go first where the cores are busy. */
const LOWER_PRIORITY = 10;

lowerPriority();
parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(doHashJob(job)));

/** Linux only, where a thread has its own id; elsewhere, or where it is not allowed, hashing stays as it is. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, LOWER_PRIORITY);
  } catch {
    // Only a courtesy to the other threads.
  }
}
