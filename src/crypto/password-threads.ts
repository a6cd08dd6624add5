import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../core/index.ts';
import { HashingBusy, type HashingFigures } from './contract.ts';
import { FairQueue, type HashCaller, type QueuedJob } from './fair-queue.ts';
import type { HashParameters } from './hash-parameters.ts';
import { hashCost } from './hash-parameters.ts';
import type { HashAnswer, HashJob } from './password-hashes.ts';

/** A pool of threads that hash passwords. Each thread runs one job at a time. */
export interface PasswordThreads {
  /**
   * Computes a hash. A job without a caller waits as long as needed.
   *
   * @throws HashingBusy if the queue is full or the job of a caller waits too long
   */
  derive(
    password: string,
    salt: Uint8Array,
    parameters: HashParameters,
    caller?: HashCaller,
  ): Promise<Buffer>;
  /**
   * Computes a hash and compares it with `expected`. Waits like `derive`. `unsupported`: the hash library rejects the
   * parameters.
   */
  compare(
    password: string,
    salt: Uint8Array,
    parameters: HashParameters,
    expected: Uint8Array,
    caller?: HashCaller,
  ): Promise<'match' | 'mismatch' | 'unsupported'>;
  figures(): HashingFigures;
  close(): Promise<void>;
}

interface Waiting {
  job: HashJob;
  cost: number;
  settle: (answer: HashAnswer) => void;
  fail: (error: Error) => void;
}

type Queued = Waiting & QueuedJob;

/**
 * Maximum number of jobs in one message to a thread while the pool is busy. A hash evicts all other data from the
 * processor's cache, so it is cheaper to handle several results together.
 */
const TOGETHER = 8;
/** Maximum work in one message, in milliseconds. A new job waits for all of it. */
const TOGETHER_MILLISECONDS = 80;

/** Limits of the queue: number of jobs, their memory in bytes, and their work in milliseconds for each thread. */
const MOST_WAITING = { jobs: 128, bytes: 64 * 1024, cost: 800 } as const;
/** Timeout of a waiting job in milliseconds. Callers are expected to retry. */
export const MOST_PATIENCE = 1000;
/** Interval in milliseconds between two checks for jobs that have waited too long. */
const PATIENCE_CHECK = 200;

/**
 * Opens a pool without threads, which start when they are needed.
 *
 * @param most maximum number of threads; another thread starts when a job finds all others busy
 * @param now monotonic time in milliseconds
 */
export function openPasswordThreads(most: number, now = () => performance.now()): PasswordThreads {
  const busy = new Map<Worker, Waiting[]>();
  const idle: Worker[] = [];
  const threads = Math.max(1, most);
  const queue = new FairQueue<Queued>({ ...MOST_WAITING, cost: MOST_WAITING.cost * threads });
  /**
   * Jobs without an external caller, such as those of an import, and the pending jobs of threads that have ended
   * unexpectedly.
   */
  const own: Waiting[] = [];
  let ownFirst = true;
  let refused = 0;
  let watch: NodeJS.Timeout | undefined;
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
    const error = new IdkitError('IDKIT_FAILED', 'the password thread ended while it hashed a password', {
      cause,
    });
    struck?.fail(error);
    if (closed) {
      for (const waiting of untouched) waiting.fail(error);
      return;
    }
    own.unshift(...untouched);
    const next = takeJobs();
    if (next.length > 0) hand(start(), next);
  }

  function rest(worker: Worker): void {
    const next = takeJobs();
    if (next.length > 0) {
      hand(worker, next);
      return;
    }
    // An idle thread must not keep a command running.
    worker.unref();
    idle.push(worker);
  }

  /**
   * Removes and returns the next jobs for a thread: its share of all waiting jobs, alternately from `own` and from the
   * queue.
   */
  function takeJobs(): Waiting[] {
    refuseImpatient();
    const count = Math.min(TOGETHER, Math.ceil((queue.length + own.length) / threads));
    const jobs: Waiting[] = [];
    for (let cost = 0; jobs.length < count && cost < TOGETHER_MILLISECONDS; cost += jobs.at(-1)!.cost) {
      const next = ownFirst ? (own.shift() ?? queue.take()) : (queue.take() ?? own.shift());
      if (next === undefined) break;
      ownFirst = !ownFirst;
      jobs.push(next);
    }
    return jobs;
  }

  function refuseImpatient(): void {
    refuse(queue.takeOlderThan(now() - MOST_PATIENCE));
    if (queue.length > 0) return;
    clearInterval(watch);
    watch = undefined;
  }

  function refuse(waiting: readonly Waiting[]): void {
    refused += waiting.length;
    for (const { fail } of waiting) fail(new HashingBusy());
  }

  function hand(worker: Worker, waiting: Waiting[]): void {
    busy.set(worker, waiting);
    worker.ref();
    worker.postMessage(waiting.map(({ job }) => job));
  }

  function ask(job: HashJob, caller: HashCaller | undefined): Promise<HashAnswer> {
    if (closed) return Promise.reject(new IdkitError('IDKIT_BUG', 'password hashing is closed'));
    return new Promise((settle, fail) => {
      const waiting: Waiting = { job, cost: hashCost(job.parameters), settle, fail };
      const free = idle.pop() ?? (busy.size < threads ? start() : undefined);
      if (free !== undefined) hand(free, [waiting]);
      else if (caller === undefined) own.push(waiting);
      else {
        const bytes = Buffer.byteLength(job.password);
        refuse(queue.add({ ...waiting, caller, bytes, since: now() }));
        watch ??= setInterval(refuseImpatient, PATIENCE_CHECK);
      }
    });
  }

  return {
    async derive(password, salt, parameters, caller) {
      const answer = await ask({ password, salt, parameters }, caller);
      if (answer.outcome === 'derived') return Buffer.from(answer.hash);
      const why = answer.outcome === 'failed' ? answer.message : answer.outcome;
      throw new IdkitError('IDKIT_FAILED', `cannot hash a password: ${why}`);
    },
    async compare(password, salt, parameters, expected, caller) {
      const { outcome } = await ask({ password, salt, parameters, expected }, caller);
      return outcome === 'match' || outcome === 'mismatch' ? outcome : 'unsupported';
    },
    figures: () => ({ waiting: queue.length + own.length, refused }),
    async close() {
      closed = true;
      clearInterval(watch);
      const error = new IdkitError('IDKIT_FAILED', 'password hashing is closed');
      for (const waiting of [...queue.clear(), ...own.splice(0)]) waiting.fail(error);
      await Promise.all([...idle, ...busy.keys()].map((worker) => worker.terminate()));
    },
  };
}
