import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { lockForRestore } from '../locks.ts';
import { type Journal, journalFile, listJournals } from './journal.ts';
import { checkSameSet, undoableOf } from './leftovers.ts';
import { bringBack, isEmptied } from './old-state.ts';
import type { RestoreOptions, RestoreResult } from './options.ts';
import { startAgain } from './services.ts';
import { dataDirectory } from './settings-after.ts';

/**
 * Brings back the state before the newest restore that can still be undone.
 *
 * @throws IDKIT_NOT_FOUND where there is none, IDKIT_SERVICE_RUNNING, IDKIT_RESTORE_BROKEN where it does not succeed
 */
export async function abortRestore(settings: Settings, options: RestoreOptions): Promise<RestoreResult> {
  const began = performance.now();
  const dataDir = dataDirectory(settings);
  const journal = await findUndoable(dataDir);
  if (options.from !== undefined) checkSameSet(await resolveLinks(resolve(options.from)), journal);
  const locks = await lockForRestore(settings, undefined, { reporter: options.reporter, mode: 'exclusive' });
  try {
    const undoable = await undoableOf(settings, dataDir, journal, options.env ?? process.env);
    if (isEmptied(journal)) throw nothingBack(dataDir, journal);
    await undoable.runtime.checkReplaceable();
    await bringBack(undoable).catch((error: unknown) => {
      throw broken(dataDir, journal, error);
    });
    if (journal.ran === true) await startAgain(settings, options.env ?? process.env);
  } finally {
    await locks.release();
  }
  return {
    outcome: 'aborted',
    id: journal.id,
    set: journal.set,
    checklist: [],
    checks: [],
    steps: [],
    milliseconds: Math.round(performance.now() - began),
    kept: [],
    findings: [],
  };
}

async function findUndoable(dataDir: string): Promise<Journal> {
  const journals = await listJournals(dataDir);
  const unfinished = journals.findLast(({ state }) => state !== 'kept' && state !== 'done');
  const journal = unfinished ?? journals.findLast(({ state }) => state === 'kept');
  if (journal !== undefined) return journal;
  throw new IdkitError('IDKIT_NOT_FOUND', `there is no restore to abort in ${dataDir}`);
}

/** The set may be gone by now, and its name is enough. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

function nothingBack(dataDir: string, journal: Journal): IdkitError {
  return new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `the restore from ${journal.set} was in place, so there is no old database to bring back; journal ${journalFile(dataDir, journal.id)}`,
    {
      hints: [
        'idkit restore --resume loads the set again',
        'idkit restore --in-place --confirm NAME --from DIR loads another set',
      ],
    },
  );
}

function broken(dataDir: string, journal: Journal, error: unknown): IdkitError {
  const why = error instanceof Error ? error.message : String(error);
  return new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `the old state could not be brought back (${why}); journal ${journalFile(dataDir, journal.id)}`,
    { cause: error, hints: ['mend the cause, then run idkit restore --abort again'] },
  );
}
