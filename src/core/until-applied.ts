import { IdkitError } from './errors.ts';

/** Maximum number of attempts to apply a change. */
const TRIES = 5;

/** The store's result for a write to a record that has changed since it was read. */
interface Stale {
  outcome: 'stale';
  what: string;
  id: string;
}

/**
 * Runs `work`, which reads and changes records. Runs it again if another change came between its read and its write.
 * The locks of `inTurn` usually prevent such conflicts. A conflict remains possible if a change affects a record that
 * it does not name: removing a role, for example, also removes it from every role that includes it.
 *
 * @param note called for each attempt that failed because of a conflict
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
