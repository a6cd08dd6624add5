import { IdkitError } from '../../core/index.ts';
import type { DatabaseHalf } from '../contract.ts';

/**
 * The database half as a restore needs it before its container runs, on an empty host or after `idkit down`: what can
 * only be asked of the server is asked once the restore has started it, before anything is loaded.
 */
export function tolerateStopped(database: DatabaseHalf, find: () => Promise<unknown>): DatabaseHalf {
  /** Gives `otherwise` where the fault is that the container does not run. */
  const unlessStopped = async <T>(ask: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (isUnreachable(error) && (await isStopped(find))) return otherwise;
      throw error;
    }
  };
  return {
    ...database,
    checkDump: (dump, options) =>
      options?.asks === false
        ? database.checkDump(dump, options)
        : unlessStopped(() => database.checkDump(dump, options), undefined),
    databaseRoom: () =>
      unlessStopped(() => database.databaseRoom(), {
        place: 'the database',
        here: false,
        freeBytes: undefined,
      }),
    listUnenforced: () => unlessStopped(() => database.listUnenforced(), []),
  };
}

async function isStopped(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find();
    return false;
  } catch (error) {
    if (isUnreachable(error)) return true;
    throw error;
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE';
}
