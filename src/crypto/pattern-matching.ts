import { Worker } from 'node:worker_threads';
import { threadModule } from '../core/index.ts';
import { HashingBusy } from './contract.ts';

/** A pattern, and the text that it has to match as a whole. */
export interface PatternCheck {
  pattern: string;
  text: string;
}

/** Answers for the checks that were asked, and `false` for every other one. */
export type PatternMatches = (pattern: string, text: string) => boolean;

/** Milliseconds for all checks of one form: some patterns take longer than the sun will shine for the right text. */
const BUDGET_MILLISECONDS = 250;
/** A thread that does not begin by then is given up with its checks. */
const START_MILLISECONDS = 10_000;
const MOST_THREADS = 2;
/** Forms that wait for a thread at most; each may keep one for its whole budget. */
const MOST_WAITING = 16;

interface Waiting {
  checks: readonly PatternCheck[];
  /** Undefined: not in time. */
  settle: (answers: readonly boolean[] | undefined) => void;
}

const idle: Worker[] = [];
const queue: Waiting[] = [];
let busy = 0;

/**
 * Runs patterns of a realm in a thread of their own, all of them within one budget. What is not answered in time has
 * matched nothing: weaker than asked is not an answer, and neither is a service that does nothing else.
 *
 * @throws HashingBusy where too many wait
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

/** A thread that is late is ended with whatever it does; the next form gets a new one. */
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
    // A thread that waits must not keep a command line alive.
    worker.unref();
    idle.push(worker);
  }
  busy--;
  settle(answers);
  takeNext();
}
