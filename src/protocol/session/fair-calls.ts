/**
 * Limits the number of parallel calls. When a call ends, the oldest waiting call of the owner with the fewest running
 * calls starts. Slow calls of one owner therefore do not delay those of another.
 */
export function limitCalls(atOnce: number): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  /** Waiting calls by owner. An owner without waiting calls has no entry. */
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
    const queue = waiting.get(next);
    const start = queue?.shift();
    if (queue === undefined || start === undefined) return;
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
