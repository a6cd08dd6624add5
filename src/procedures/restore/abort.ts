import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { lockForRestore } from '../locks.ts';
import { isEmptied, type Journal, journalFile, listJournals } from './journal.ts';
import { checkSameSet } from './leftovers.ts';
import { openOldState, rollBack } from './old-state.ts';
import type { RestoreOptions, RestoreResult } from './options.ts';
import { startAgain } from './services.ts';
import { dataDirectory } from './settings-after.ts';

/**
 * Rolls back the newest restore that allows it.
 *
 * @throws IDKIT_NOT_FOUND without such a restore, IDKIT_SERVICE_RUNNING, IDKIT_RESTORE_BROKEN if the rollback fails
 */
export async function abortRestore(settings: Settings, options: RestoreOptions): Promise<RestoreResult> {
  const began = performance.now();
  const env = options.env ?? process.env;
  const dataDir = dataDirectory(settings);
  const journal = await getAbortable(dataDir);
  if (options.from !== undefined) checkSameSet(await resolveLinks(resolve(options.from)), journal);
  const locks = await lockForRestore(settings, undefined, { reporter: options.reporter, mode: 'exclusive' });
  try {
    const oldState = await openOldState(settings, dataDir, journal, env);
    if (isEmptied(journal)) throw noWayBack(dataDir, journal);
    await oldState.platform.service.checkReplaceable();
    await rollBack(oldState).catch((error: unknown) => {
      throw rollBackFailed(dataDir, journal, error);
    });
    if (journal.ran === true) await startAgain(settings, env);
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

/**
 * Returns the journal of the newest interrupted restore or, if there is none, of the newest restore that ended with
 * findings.
 */
async function getAbortable(dataDir: string): Promise<Journal> {
  const journals = await listJournals(dataDir);
  const unfinished = journals.findLast(({ state }) => state !== 'kept' && state !== 'done');
  const journal = unfinished ?? journals.findLast(({ state }) => state === 'kept');
  if (journal !== undefined) return journal;
  throw new IdkitError('IDKIT_NOT_FOUND', `there is no restore to abort in ${dataDir}`);
}

/** Resolves the links in the path of a set. Returns the path unchanged if the set was deleted. */
async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}

function noWayBack(dataDir: string, journal: Journal): IdkitError {
  return new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `the restore from ${journal.set} emptied the live database (--in-place), so it cannot be rolled back; the journal is ${journalFile(dataDir, journal.id)}`,
    {
      hints: [
        'idkit restore --resume loads the set again',
        'idkit restore --in-place --confirm NAME --from DIR loads another set',
      ],
    },
  );
}

function rollBackFailed(dataDir: string, journal: Journal, error: unknown): IdkitError {
  const why = error instanceof Error ? error.message : String(error);
  return new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `the restore could not be rolled back (${why}); the journal is ${journalFile(dataDir, journal.id)}`,
    { cause: error, hints: ['remove the cause, then run idkit restore --abort again'] },
  );
}
