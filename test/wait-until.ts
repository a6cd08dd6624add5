import { setTimeout as sleep } from 'node:timers/promises';

/** Options of `waitUntil`. */
export interface Patience {
  /** Timeout in seconds. Default: 60. */
  seconds?: number;
  /** Interval between two checks in milliseconds. Default: 20. */
  every?: number;
  /** Returns the current state, which the error shows after the timeout. */
  seen?: () => unknown;
}

/**
 * Calls `look` until it returns a result, and returns that result. Every test polls with this function, so that every
 * poll has a timeout and a message that names the condition.
 *
 * @param what the condition in words, for example `the replica is ready`
 * @param look returns undefined, null or false until the condition is true; its errors fail the test
 * @throws Error that names the condition, after the timeout
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | Promise<T>,
  { seconds = 60, every = 20, seen }: Patience = {},
): Promise<Exclude<T, undefined | null | false>> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false)
      return found as Exclude<T, undefined | null | false>;
    if (performance.now() >= end) {
      const state = seen?.();
      const shown =
        state === undefined ? '' : `: ${typeof state === 'string' ? state : JSON.stringify(state)}`;
      throw new Error(`still not true after ${seconds} s: ${what}${shown}`);
    }
    await sleep(every);
  }
}
