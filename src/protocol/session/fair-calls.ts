/**
 * Runs at most so many pieces of work at once. The others wait; the next is one of the owner who has fewest under way,
 * the oldest first: whose work takes long is in the way of nobody else's.
 */
export function limitCalls(atOnce: number): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  /** By owner; none is empty. */
  const waiting = new Map<string, (() => void)[]>();
  const running = new Map<string, number>();
  let all = 0;
  const count = (owner: string, change: 1 | -1): void => {
    all += change;
    const now = (running.get(owner) ?? 0) + change;
    if (now === 0) running.delete(owner);
    else running.set(owner, now);
  };
  const startNext = (): void => {
    let next: string | undefined;
    for (const owner of waiting.keys())
      if (next === undefined || (running.get(owner) ?? 0) < (running.get(next) ?? 0)) next = owner;
    if (next === undefined) return;
    const queue = waiting.get(next)!;
    const start = queue.shift()!;
    if (queue.length === 0) waiting.delete(next);
    count(next, 1);
    start();
  };
  return async (owner, work) => {
    if (all < atOnce) count(owner, 1);
    else
      await new Promise<void>((start) => {
        const queue = waiting.get(owner);
        if (queue === undefined) waiting.set(owner, [start]);
        else queue.push(start);
      });
    try {
      return await work();
    } finally {
      count(owner, -1);
      startNext();
    }
  };
}
