import { resolve } from 'node:path';
import { type Manifest, openSet, parseManifest, SET_FILES, type SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { isEmptied, type Journal, journalFile, listJournals } from './journal.ts';
import { discardOldState, openOldState, rollBack, rollBackFiles } from './old-state.ts';
import type { RestoreOptions } from './options.ts';

/** Opens the set that `--from` or the journal names. @throws IDKIT_NOT_FOUND, IDKIT_USAGE */
export async function openRestoreSet(
  options: RestoreOptions,
  journal: Journal | undefined,
): Promise<SetHandle> {
  const from = options.from ?? journal?.set;
  if (from === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', 'there is no interrupted restore to resume');
  const set = await openSet(resolve(from));
  if (journal !== undefined) checkSameSet(set.dir, journal);
  return set;
}

/** Checks that `--from` names the set of the journal that `--resume` or `--abort` uses. @throws IDKIT_USAGE */
export function checkSameSet(dir: string, journal: Journal): void {
  if (dir === journal.set) return;
  throw new IdkitError(
    'IDKIT_USAGE',
    `the interrupted restore is from ${journal.set}, but --from names ${dir}`,
  );
}

/**
 * Checks that a set contains the database and, without `--keep-env`, the environment. The manifest shows this before
 * any file except the seal is read.
 *
 * @throws IDKIT_USAGE
 */
export async function checkComplete(set: SetHandle, keepEnv: boolean): Promise<void> {
  const parts = (await findManifest(set))?.parts;
  if (parts === undefined) return;
  if (!parts.includes('database')) {
    throw new IdkitError(
      'IDKIT_USAGE',
      `${set.name} is a partial set without the database (${parts.join(', ')})`,
      { hints: ['idkit backups list shows which sets contain the database'] },
    );
  }
  if (!keepEnv && !parts.includes('env')) {
    throw new IdkitError('IDKIT_USAGE', `${set.name} does not contain env.gpg`, {
      hints: ['--keep-env restores the set with the current .env'],
    });
  }
}

/** Returns the manifest, or undefined if it is missing or damaged. The verification reports damage. */
async function findManifest(set: SetHandle): Promise<Manifest | undefined> {
  if (!set.names.includes(SET_FILES.manifest)) return undefined;
  try {
    return parseManifest(await set.read(SET_FILES.manifest));
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

/** Returns the newest restore that neither finished nor ended with findings. */
export async function findUnfinished(dataDir: string): Promise<Journal | undefined> {
  const journals = await listJournals(dataDir);
  return journals.findLast(({ state }) => state !== 'kept' && state !== 'done');
}

/**
 * Checks that a new restore may start: no interrupted restore has changed the platform.
 *
 * @throws IDKIT_RESTORE_BROKEN
 */
export function checkNothingHalfDone(
  dataDir: string,
  journal: Journal | undefined,
  options: RestoreOptions,
): void {
  if (journal === undefined || journal.state === 'staging') return;
  // The live database is empty, so there is no state to protect from another set.
  if (isEmptied(journal) && options.inPlace !== undefined) return;
  throw new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `an earlier restore from ${journal.set} was interrupted; the journal is ${journalFile(dataDir, journal.id)}`,
    {
      hints: [
        'idkit restore --resume continues it',
        isEmptied(journal)
          ? 'idkit restore --in-place --confirm NAME --from DIR loads another set'
          : 'idkit restore --abort rolls it back',
      ],
    },
  );
}

/**
 * Removes the traces of earlier restores that changed nothing, and finishes interrupted rollbacks and removals. `own`
 * is the id of the current restore.
 */
export async function clearLeftovers(
  settings: Settings,
  dataDir: string,
  own: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  for (const journal of await listJournals(dataDir)) {
    if (journal.id === own) continue;
    const oldState = await openOldState(settings, dataDir, journal, env);
    if (isEmptied(journal)) await rollBackFiles(oldState);
    if (journal.state === 'staging' || journal.state === 'undoing') await rollBack(oldState);
    if (journal.state === 'done') await discardOldState(oldState);
  }
}
