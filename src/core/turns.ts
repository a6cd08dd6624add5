/**
 * An object whose changes are serialized by named locks. If several processes share its data, `takeTurn` acquires locks
 * that exclude the other processes too.
 */
export interface TurnOwner {
  /**
   * Acquires the lock with this name and returns a function that releases it. `within` is a timeout in milliseconds,
   * after which it returns undefined. Default: waits until the lock is free.
   */
  takeTurn?(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
}

/**
 * The result of work that waits for a lock with a timeout. `busy`: the lock was not free in time and the work did not
 * run.
 */
export type TurnWithin<T> = { outcome: 'done'; value: T } | { outcome: 'busy' };

const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs `work` after all earlier work with the same owner and key has finished or failed. Use it if `work` reads a
 * record and later writes the whole record. `work` may acquire the lock of another key, unless other work acquires the
 * two in the opposite order. An owner with `takeTurn` serializes the work of several processes too.
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
 * Like `inTurn`, but waits at most `within` milliseconds for the lock. In each process, only the first waiting call
 * competes with other processes. The others wait in a queue.
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
 * Runs `work` while it holds the locks of all `keys`. Every caller acquires them in the same order, so that no two
 * callers block each other.
 */
export function inTurns<T>(owner: TurnOwner, keys: Iterable<string>, work: () => Promise<T>): Promise<T> {
  let run = work;
  for (const key of [...new Set(keys)].sort().reverse()) {
    const inner = run;
    run = () => inTurn(owner, key, inner);
  }
  return run();
}
