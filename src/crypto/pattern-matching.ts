import { Worker } from 'node:worker_threads';
import { threadModule } from '../core/index.ts';
import { HashingBusy } from './contract.ts';

/** A pattern, and the text that it must match as a whole. */
export interface PatternCheck {
  pattern: string;
  text: string;
}

/** Returns the result of a check. Returns `false` if the check did not run. */
export type PatternMatches = (pattern: string, text: string) => boolean;

/**
 * Time budget for all checks of one form, in milliseconds. Some combinations of a pattern and a text would take
 * practically forever.
 */
const BUDGET_MILLISECONDS = 250;
/** Timeout in milliseconds for the start of a thread. Checks fail if the thread does not start in time. */
const START_MILLISECONDS = 10_000;
const MOST_THREADS = 2;
/** Maximum number of forms that wait for a thread. Each form can occupy a thread for its whole budget. */
const MOST_WAITING = 16;

interface Waiting {
  checks: readonly PatternCheck[];
  /** Called with the results, or with undefined if the time ran out. */
  settle: (answers: readonly boolean[] | undefined) => void;
}

const idle: Worker[] = [];
const queue: Waiting[] = [];
let busy = 0;

/**
 * Matches regular expressions of a realm in another thread, all of them within one time budget. A pattern that exceeds
 * the budget counts as not matched, so that a slow pattern neither weakens a rule nor blocks the service.
 *
 * @throws HashingBusy if too many forms are waiting
 */
export async function matchPatterns(checks: readonly PatternCheck[]): Promise<PatternMatches> {
  if (checks.length === 0) return () => false;
  if (busy >= MOST_THREADS && queue.length >= MOST_WAITING) throw new HashingBusy();
  const answers = await new Promise<readonly boolean[] | undefined>((settle) => {
    queue.push({ checks, settle });
    takeNext();
  });
  const right = new Set(checks.filter((_check, index) => answers?.[index]).map(nameOf));
  return (pattern, text) => right.has(nameOf({ pattern, text }));
}

function nameOf({ pattern, text }: PatternCheck): string {
  return JSON.stringify([pattern, text]);
}

function takeNext(): void {
  while (busy < MOST_THREADS) {
    const next = queue.shift();
    if (next === undefined) return;
    busy++;
    void run(idle.pop() ?? startThread(), next);
  }
}

function startThread(): Worker {
  return new Worker(threadModule(import.meta.url, './pattern-thread'), {
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
}

/**
 * Runs the checks of one form. Terminates the thread if it exceeds the budget. The next form then gets a new thread.
 */
async function run(worker: Worker, { checks, settle }: Waiting): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let forget = () => {};
  const answers = await new Promise<readonly boolean[] | undefined>((resolve) => {
    const giveUp = () => resolve(undefined);
    timer = setTimeout(giveUp, START_MILLISECONDS);
    const read = (message: 'begun' | readonly boolean[]) => {
      clearTimeout(timer);
      if (message === 'begun') timer = setTimeout(giveUp, BUDGET_MILLISECONDS);
      else resolve(message);
    };
    worker.on('message', read);
    worker.on('exit', giveUp).on('error', giveUp);
    forget = () => worker.off('message', read).off('exit', giveUp).off('error', giveUp);
    worker.ref();
    worker.postMessage(checks);
  });
  clearTimeout(timer);
  forget();
  if (answers === undefined) await worker.terminate();
  else {
    // An idle thread must not keep a command running.
    worker.unref();
    idle.push(worker);
  }
  busy--;
  settle(answers);
  takeNext();
}
