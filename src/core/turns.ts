/** Whose turns are taken in more than one process: what `takeTurn` answers ends the turn. */
export interface TurnOwner {
  /** Undefined: others had the turn for all of `within` milliseconds. */
  takeTurn?(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
}

/** What became of work that waits for its turn for a bounded time. `busy`: the turn did not come, nothing was done. */
export type TurnWithin<T> = { outcome: 'done'; value: T } | { outcome: 'busy' };

const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs `work` when every earlier one of the same owner and key is done, whether it succeeded or not. For reads that
 * a write builds on, where the write replaces the whole record. A turn may wait for one of another key inside, as
 * long as nobody does so the other way round. An owner of several processes holds their turns apart too.
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
 * The same for work that waits at most `within` milliseconds for its turn, in this process and among all of them
 * together. What waits in this process holds nothing but its place; one of them at a time asks the other processes.
 */
export function inTurnWithin<T>(
  owner: TurnOwner,
  key: string,
  within: number,
  work: () => Promise<T>,
): Promise<TurnWithin<T>> {
  const until = performance.now() + within;
  return new Promise((resolve, reject) => {
    let left = false;
    const leave = () => {
      left = true;
      resolve({ outcome: 'busy' });
    };
    const timer = setTimeout(leave, within);
    enqueue(owner, key, async (): Promise<TurnWithin<T>> => {
      clearTimeout(timer);
      if (left) return { outcome: 'busy' };
      const remaining = Math.max(0, until - performance.now());
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
 * Runs `work` in the turns of all `keys`. They are taken one after the other, in one order for everybody, so that no
 * two that want several of them wait for each other.
 */
export function inTurns<T>(owner: TurnOwner, keys: Iterable<string>, work: () => Promise<T>): Promise<T> {
  let run = work;
  for (const key of [...new Set(keys)].sort().reverse()) {
    const inner = run;
    run = () => inTurn(owner, key, inner);
  }
  return run();
}
