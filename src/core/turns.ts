/** Whose turns are taken in more than one process: what `takeTurn` answers ends the turn. */
export interface TurnOwner {
  takeTurn?(name: string): Promise<() => Promise<void>>;
}

const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Runs `work` when every earlier one of the same owner and key is done, whether it succeeded or not. For reads that
 * a write builds on, where the write replaces the whole record. A turn may wait for one of another key inside, as
 * long as nobody does so the other way round. An owner of several processes holds their turns apart too.
 */
export async function inTurn<T>(owner: TurnOwner, key: string, work: () => Promise<T>): Promise<T> {
  let queues = turns.get(owner);
  if (queues === undefined) {
    queues = new Map();
    turns.set(owner, queues);
  }
  const before = queues.get(key) ?? Promise.resolve();
  const run = owner.takeTurn === undefined ? work : () => amongProcesses(owner, key, work);
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

async function amongProcesses<T>(owner: TurnOwner, key: string, work: () => Promise<T>): Promise<T> {
  const end = await owner.takeTurn?.(key);
  try {
    return await work();
  } finally {
    await end?.();
  }
}
