import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { doHashJob, type HashAnswer, type HashJob } from './password-hashes.ts';

/**
 * Nice value of the thread. The thread has a lower priority than the others, so that signatures and `/health/ready` go
 * first on busy cores.
 */
const LOWER_PRIORITY = 10;

/**
 * Time in milliseconds after which the thread sends its results, even if it has not finished all jobs of the message.
 */
const TELL_AFTER_MS = 60;

lowerPriority();
parentPort?.on('message', (jobs: readonly HashJob[]) => {
  let answers: HashAnswer[] = [];
  let began = performance.now();
  for (const job of jobs) {
    answers.push(doHashJob(job));
    if (performance.now() - began < TELL_AFTER_MS) continue;
    parentPort?.postMessage(answers);
    answers = [];
    began = performance.now();
  }
  if (answers.length > 0) parentPort?.postMessage(answers);
});

/**
 * Lowers the priority of this thread on Linux, where a thread has its own id. Elsewhere, or without the permission,
 * does nothing.
 */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, LOWER_PRIORITY);
  } catch {
    // Ignores the error, because hashing works without the lower priority.
  }
}
