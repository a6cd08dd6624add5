import { IdkitError } from './errors.ts';

/** How often a change is begun again because somebody else's came between its reading and its writing. */
const TRIES = 5;

/** What the store answers to a change of a record that is not as it was read. */
interface Stale {
  outcome: 'stale';
  what: string;
  id: string;
}

/**
 * Runs `work`, which reads records and changes them, again from its first read while it answers that one of them was
 * changed meanwhile. Turns keep that from happening; it does where a change reaches a record that it does not name (a
 * role that is removed is taken out of all that include it).
 *
 * @param note is called for each time that nothing was done
 * @throws IDKIT_CHANGED
 */
export async function untilApplied<T>(
  work: () => Promise<T>,
  note?: (stale: Extract<T, Stale>) => void,
): Promise<Exclude<T, Stale>> {
  for (let tries = 1; ; tries++) {
    const result = await work();
    if (!isStale<T>(result)) return result as Exclude<T, Stale>;
    note?.(result);
    if (tries === TRIES)
      throw new IdkitError(
        'IDKIT_CHANGED',
        `${result.what} ${result.id} was changed by others ${TRIES} times before a change of it could be stored`,
        { hints: ['try again'] },
      );
  }
}

function isStale<T>(result: T): result is Extract<T, Stale> {
  return typeof result === 'object' && result !== null && Object(result).outcome === 'stale';
}
