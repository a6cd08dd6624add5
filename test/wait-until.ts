import { setTimeout as sleep } from 'node:timers/promises';

/** How a condition is waited for. */
export interface Patience {
  /** Seconds until it counts as never. */
  seconds?: number;
  /** Milliseconds between two looks. */
  every?: number;
  /** What the message of a failure shows besides: the state that was seen last. */
  seen?: () => unknown;
}

/**
 * Looks until something holds, and gives what was found. Every poll of a test goes through here, so that each has an
 * end and says what it waited for.
 *
 * @param what the condition in words, as `the replica is ready`
 * @param look anything but undefined, null and false holds; an error of it is the test's
 * @throws Error that names the condition after `seconds` (60)
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
      throw new Error(`it did not come true within ${seconds} s that ${what}${shown}`);
    }
    await sleep(every);
  }
}
