import { resolve } from 'node:path';
import { type Manifest, openSet, parseManifest, SET_FILES, type SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatform, withDatabase } from '../../platform/open.ts';
import { type Journal, journalFile, listJournals } from './journal.ts';
import { bringBack, bringBackFiles, discardOldState, isEmptied, type Undoable } from './old-state.ts';
import type { RestoreOptions } from './options.ts';
import { databasePasswords, loadSettingsAfter, stagedFiles } from './settings-after.ts';

/** @throws IDKIT_USAGE, IDKIT_SETTING for options that do not go together, before anything is read */
export function checkOptions(options: RestoreOptions): void {
  const { from, resume, abort, dryRun, keepEnv, passphrase, inPlace } = options;
  if (inPlace !== undefined && (resume === true || abort === true)) {
    throw new IdkitError('IDKIT_USAGE', '--in-place goes with neither --resume nor --abort', {
      hints: ['--resume keeps the choice of the restore that it goes on with'],
    });
  }
  if (resume === true && abort === true) {
    throw new IdkitError('IDKIT_USAGE', '--resume and --abort exclude each other');
  }
  if (dryRun === true && (resume === true || abort === true)) {
    throw new IdkitError('IDKIT_USAGE', '--dry-run goes with neither --resume nor --abort');
  }
  if (from === undefined && resume !== true && abort !== true) {
    throw new IdkitError('IDKIT_USAGE', 'restore needs --from with the directory of a backup set', {
      hints: ['idkit backups list shows the sets'],
    });
  }
  if (passphrase === undefined && keepEnv !== true && resume !== true && abort !== true) throw noPassphrase();
}

/** Every way to give the passphrase, or to do without. */
export function noPassphrase(): IdkitError {
  return new IdkitError('IDKIT_SETTING', 'no passphrase for env.gpg is given', {
    hints: [
      'set IDKIT_BACKUP_PASSPHRASE in the process environment',
      'or IDKIT_BACKUP_PASSPHRASE_FILE to a file that holds it in its first line',
      'or IDKIT_BACKUP_PASSPHRASE_COMMAND to a command that prints it',
      'or --keep-env --trust-unsealed to leave .env as it is and take the set unchecked',
    ],
  });
}

/** The set that `--from` names, or the journal where it may be left out. @throws IDKIT_NOT_FOUND, IDKIT_USAGE */
export async function openRestoreSet(
  options: RestoreOptions,
  journal: Journal | undefined,
): Promise<SetHandle> {
  const from = options.from ?? journal?.set;
  if (from === undefined) throw new IdkitError('IDKIT_NOT_FOUND', 'there is no unfinished restore to resume');
  const set = await openSet(resolve(from));
  if (journal !== undefined) checkSameSet(set.dir, journal);
  return set;
}

/**
 * Only a set with the database counts, and without `--keep-env` only one with the environment (contract §3, backup).
 * Its manifest says so before anything else of it is read but the seal.
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
      { hints: ['idkit backups list shows which sets hold the database'] },
    );
  }
  if (!keepEnv && !parts.includes('env')) {
    throw new IdkitError('IDKIT_USAGE', `${set.name} holds no env.gpg`, {
      hints: ['--keep-env restores it with the .env that is in place'],
    });
  }
}

/** Undefined where there is none or it is damaged, which the verification tells. */
async function findManifest(set: SetHandle): Promise<Manifest | undefined> {
  if (!set.names.includes(SET_FILES.manifest)) return undefined;
  try {
    return parseManifest(await set.read(SET_FILES.manifest));
  } catch (error) {
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

/** `--from` may repeat the journal's set and name no other. */
export function checkSameSet(dir: string, journal: Journal): void {
  if (dir === journal.set) return;
  throw new IdkitError(
    'IDKIT_USAGE',
    `the unfinished restore is from ${journal.set}, and --from names ${dir}`,
  );
}

/** The newest restore that is neither finished nor only kept aside. */
export async function findUnfinished(dataDir: string): Promise<Journal | undefined> {
  const journals = await listJournals(dataDir);
  return journals.findLast(({ state }) => state !== 'kept' && state !== 'done');
}

/**
 * A plain rerun starts afresh where the old state is whole.
 *
 * @throws IDKIT_RESTORE_BROKEN where an unfinished restore has begun to change what is in place
 */
export function checkNothingHalfDone(
  dataDir: string,
  journal: Journal | undefined,
  options: RestoreOptions,
): void {
  if (journal === undefined || journal.state === 'staging') return;
  // Nothing is there to come back to, so another set may be loaded instead.
  if (isEmptied(journal) && options.inPlace !== undefined) return;
  throw new IdkitError(
    'IDKIT_RESTORE_BROKEN',
    `an earlier restore from ${journal.set} ended in the middle; journal ${journalFile(dataDir, journal.id)}`,
    {
      hints: [
        'idkit restore --resume goes on with it',
        isEmptied(journal)
          ? 'idkit restore --in-place --confirm NAME --from DIR loads another set'
          : 'idkit restore --abort brings back the state before it',
      ],
    },
  );
}

/** Removes what restores but `own` left that ended before they changed anything, and finishes what only needs an end. */
export async function clearLeftovers(
  settings: Settings,
  dataDir: string,
  own: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  for (const journal of await listJournals(dataDir)) {
    if (journal.id === own) continue;
    const undoable = await undoableOf(settings, dataDir, journal, env);
    if (isEmptied(journal)) await bringBackFiles(undoable);
    if (journal.state === 'staging' || journal.state === 'undoing') await bringBack(undoable);
    if (journal.state === 'done') await discardOldState(undoable);
  }
}

/**
 * What the journal tells to bring back, with the database that it names. A platform that had no definition of its own
 * is what the restore staged or put in place.
 */
export async function undoableOf(
  settings: Settings,
  dataDir: string,
  journal: Journal,
  env: NodeJS.ProcessEnv,
): Promise<Undoable> {
  const places = { dir: settings.dir, id: journal.id };
  const platform = settings.exists
    ? settings
    : await loadSettingsAfter(settings, await stagedFiles(places), env);
  const named = journal.database === '' ? platform : withDatabase(platform, journal.database);
  const { any, before } = await databasePasswords(platform, places, env);
  const runtime = await openPlatform(named, { databasePasswords: any });
  return { dir: settings.dir, dataDir, journal, runtime, databasePassword: before };
}
