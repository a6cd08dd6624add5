import { IdkitError } from './errors.ts';

/** Attempts before a change fails because of concurrent changes. */
const TRIES = 5;

/** The store's result for a change of a record that changed after it was read. */
interface Stale {
  outcome: 'stale';
  what: string;
  id: string;
}

/**
 * Runs `work`, which reads records and changes them, and repeats it from its first read while it returns that a record
 * has changed since. Turns usually prevent that. It happens if a change affects a record that it does not name:
 * removing a role also removes it from every role that includes it.
 *
 * @param note called for each attempt that changed nothing
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
        `${result.what} ${result.id} changed ${TRIES} times before idkit could store its own change`,
        { hints: ['try again'] },
      );
  }
}

function isStale<T>(result: T): result is Extract<T, Stale> {
  return typeof result === 'object' && result !== null && Object(result).outcome === 'stale';
}
