import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../core/index.ts';
import type { HashParameters } from './hash-parameters.ts';
import type { HashAnswer, HashJob } from './password-hashes.ts';

/** A pool of hash threads: first come, first served, each thread one job after the other. */
export interface PasswordThreads {
  derive(password: string, salt: Uint8Array, parameters: HashParameters): Promise<Buffer>;
  /** `unsupported`: the hash library does not take these parameters. */
  compare(
    password: string,
    salt: Uint8Array,
    parameters: HashParameters,
    expected: Uint8Array,
  ): Promise<'match' | 'mismatch' | 'unsupported'>;
  close(): Promise<void>;
}

interface Waiting {
  job: HashJob;
  settle: (answer: HashAnswer) => void;
  fail: (error: IdkitError) => void;
}

/**
 * Jobs that a thread takes at once where that many wait. A hash pushes everything else out of the processor's cache;
 * what follows several hashes is cheaper done in one go.
 */
const TOGETHER = 8;

/** @param most threads; each starts when a job finds all others busy */
export function openPasswordThreads(most: number): PasswordThreads {
  const busy = new Map<Worker, Waiting[]>();
  const idle: Worker[] = [];
  const queue: Waiting[] = [];
  let closed = false;

  function start(): Worker {
    const worker = new Worker(threadModule(import.meta.url, './password-thread'));
    worker.on('message', (answers: readonly HashAnswer[]) => {
      const waiting = busy.get(worker) ?? [];
      const done = waiting.splice(0, answers.length);
      if (waiting.length === 0) {
        busy.delete(worker);
        rest(worker);
      }
      for (const [index, { settle }] of done.entries()) settle(answers[index]!);
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => lose(worker, cause));
    return worker;
  }

  function lose(worker: Worker, cause: unknown): void {
    const [struck, ...untouched] = busy.get(worker) ?? [];
    busy.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
    const error = new IdkitError('IDKIT_FAILED', 'the password thread ended during a hash', { cause });
    struck?.fail(error);
    if (closed) {
      for (const waiting of untouched) waiting.fail(error);
      return;
    }
    queue.unshift(...untouched);
    if (queue.length > 0) hand(start(), takeJobs());
  }

  function rest(worker: Worker): void {
    if (queue.length > 0) {
      hand(worker, takeJobs());
      return;
    }
    // A thread that waits must not keep a command line alive.
    worker.unref();
    idle.push(worker);
  }

  /** As many as there are for each thread. */
  function takeJobs(): Waiting[] {
    return queue.splice(0, Math.min(TOGETHER, Math.ceil(queue.length / Math.max(1, most))));
  }

  function hand(worker: Worker, waiting: Waiting[]): void {
    busy.set(worker, waiting);
    worker.ref();
    worker.postMessage(waiting.map(({ job }) => job));
  }

  function ask(job: HashJob): Promise<HashAnswer> {
    if (closed) return Promise.reject(new IdkitError('IDKIT_BUG', 'password hashing was closed'));
    return new Promise((settle, fail) => {
      const waiting: Waiting = { job, settle, fail };
      const free = idle.pop() ?? (busy.size < Math.max(1, most) ? start() : undefined);
      if (free === undefined) queue.push(waiting);
      else hand(free, [waiting]);
    });
  }

  return {
    async derive(password, salt, parameters) {
      const answer = await ask({ password, salt, parameters });
      if (answer.outcome === 'derived') return Buffer.from(answer.hash);
      const why = answer.outcome === 'failed' ? answer.message : answer.outcome;
      throw new IdkitError('IDKIT_FAILED', `a password could not be hashed: ${why}`);
    },
    async compare(password, salt, parameters, expected) {
      const { outcome } = await ask({ password, salt, parameters, expected });
      return outcome === 'match' || outcome === 'mismatch' ? outcome : 'unsupported';
    },
    async close() {
      closed = true;
      const error = new IdkitError('IDKIT_FAILED', 'password hashing was closed');
      for (const waiting of queue.splice(0)) waiting.fail(error);
      await Promise.all([...idle, ...busy.keys()].map((worker) => worker.terminate()));
    },
  };
}
