/** An owner of turns. If several processes share it, `takeTurn` serializes them too. */
export interface TurnOwner {
  /** Returns a function that ends the turn, or undefined if others held the turn for all of `within` milliseconds. */
  takeTurn?(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
}

/** The result of work that waits for its turn for a limited time. `busy`: the work did not run. */
export type TurnWithin<T> = { outcome: 'done'; value: T } | { outcome: 'busy' };

const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs `work` after all earlier work of the same owner and key has finished or failed. The turn protects a read on
 * which a later write of the whole record depends. Inside its turn, work may wait for the turn of another key, unless
 * other work waits in the opposite order. An owner with `takeTurn` serializes several processes too.
 */
export function inTurn<T>(owner: TurnOwner, key: string, work: () => Promise<T>): Promise<T> {
  return enqueue(owner, key, async () => {
    const end = await owner.takeTurn?.(key);
    try {
      return await work();
    } finally {
      await end?.();
    }
  });
}

/**
 * Like `inTurn`, but `work` waits at most `within` milliseconds for its turn, in this process and in all others
 * together. While it waits, it holds only its place in the queue. Only the first waiter of each process competes with
 * other processes.
 */
export function inTurnWithin<T>(
  owner: TurnOwner,
  key: string,
  within: number,
  work: () => Promise<T>,
): Promise<TurnWithin<T>> {
  const deadline = performance.now() + within;
  return new Promise((resolve, reject) => {
    let expired = false;
    const expire = () => {
      expired = true;
      resolve({ outcome: 'busy' });
    };
    const timer = setTimeout(expire, within);
    enqueue(owner, key, async (): Promise<TurnWithin<T>> => {
      clearTimeout(timer);
      if (expired) return { outcome: 'busy' };
      const remaining = Math.max(0, deadline - performance.now());
      const end = await owner.takeTurn?.(key, remaining);
      if (owner.takeTurn !== undefined && end === undefined) return { outcome: 'busy' };
      try {
        return { outcome: 'done', value: await work() };
      } finally {
        await end?.();
      }
    }).then(resolve, reject);
  });
}

async function enqueue<T>(owner: TurnOwner, key: string, run: () => Promise<T>): Promise<T> {
  let queues = turns.get(owner);
  if (queues === undefined) {
    queues = new Map();
    turns.set(owner, queues);
  }
  const before = queues.get(key) ?? Promise.resolve();
  const mine = before.then(run, run);
  const settled = mine.then(
    () => undefined,
    () => undefined,
  );
  queues.set(key, settled);
  try {
    return await mine;
  } finally {
    if (queues.get(key) === settled) queues.delete(key);
  }
}

/**
 * Runs `work` in the turns of all `keys`. Every caller takes them in the same order, so that no two callers wait for each
 * other.
 */
export function inTurns<T>(owner: TurnOwner, keys: Iterable<string>, work: () => Promise<T>): Promise<T> {
  let run = work;
  for (const key of [...new Set(keys)].sort().reverse()) {
    const inner = run;
    run = () => inTurn(owner, key, inner);
  }
  return run();
}
