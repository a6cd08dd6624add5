import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { doHashJob, type HashAnswer, type HashJob } from './password-hashes.ts';

/** One step of ten below the rest: signing and `/health/ready` go first where the cores are busy. */
const LOWER_PRIORITY = 10;

/** Milliseconds after which answers are told though jobs that came with them are not done. */
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

/** Linux only, where a thread has its own id; elsewhere, or where it is not allowed, hashing stays as it is. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, LOWER_PRIORITY);
  } catch {
    // Only a courtesy to the other threads.
  }
}
