import type { Settings } from '../../config/index.ts';
import type { Secret } from '../../core/index.ts';
import type { Platform } from '../../platform/index.ts';
import { openPlatform, withDatabase } from '../../platform/open.ts';
import { putItemsBack, removePreviousItems, removeStaging } from './files-in-place.ts';
import { type Journal, listJournals, putJournal, removeJournal } from './journal.ts';
import { removeStarted, startDatabase, stopRestored } from './services.ts';
import { databasePasswords, dataDirectory, loadSettingsAfter, stagedFiles } from './settings-after.ts';

/** The state before a restore: its journal and the platform that the journal refers to. */
export interface OldState {
  dir: string;
  dataDir: string;
  journal: Journal;
  platform: Platform;
  /** The previous password of the database's role. Undefined if it is unknown or did not change. */
  databasePassword?: Secret | undefined;
}

/**
 * Opens the platform as it was before the journal's restore, with the database that the journal names. If the platform
 * had no definition, uses the staged or restored definition.
 */
export async function openOldState(
  settings: Settings,
  dataDir: string,
  journal: Journal,
  env: NodeJS.ProcessEnv,
): Promise<OldState> {
  const places = { dir: settings.dir, id: journal.id };
  const present = settings.exists
    ? settings
    : await loadSettingsAfter(settings, await stagedFiles(places), env);
  const named = journal.database === '' ? present : withDatabase(present, journal.database);
  const { any, before } = await databasePasswords(present, places, env);
  const platform = await openPlatform(named, { databasePasswords: any });
  return { dir: settings.dir, dataDir, journal, platform, databasePassword: before };
}

/**
 * Rolls a restore back: puts the previous state into place again and removes every other trace. The journal records the
 * rollback first, so an interrupted rollback can only be repeated.
 */
export async function rollBack({
  dir,
  dataDir,
  journal,
  platform,
  databasePassword,
}: OldState): Promise<void> {
  const places = { dir, id: journal.id };
  const undoing: Journal = journal.state === 'staging' ? journal : { ...journal, state: 'undoing' };
  if (journal.state !== 'staging') {
    await putJournal(dataDir, undoing);
    await stopRestored(platform);
  }
  const touched = journal.touched !== false;
  if (touched) {
    await startDatabase(platform, dir, journal.id, new AbortController().signal);
    await platform.database.swapBack(journal.id, { password: databasePassword });
  }
  await putItemsBack(places, journal.items);
  if (touched) await platform.database.discard(journal.id, { previous: false });
  // Remove the parts that the restore started, because without a definition the operator could not stop them.
  if (journal.items.some(({ name, had }) => name === 'compose.yaml' && !had)) await removeStarted(platform);
  // Without the staged files, a repeated rollback could not reach the database, so it must skip the database.
  if (touched) await putJournal(dataDir, { ...undoing, touched: false });
  await removeStaging(places);
  await removeJournal(dataDir, journal.id);
}

/** Rolls back only the files, because another restore empties the same database again. */
export async function rollBackFiles({ dir, dataDir, journal }: OldState): Promise<void> {
  const places = { dir, id: journal.id };
  await putItemsBack(places, journal.items);
  await removeStaging(places);
  await removeJournal(dataDir, journal.id);
}

/**
 * Removes the previous state. The journal first records that the restored state has passed its checks, so an
 * interrupted removal cannot lead to a rollback to an incomplete state.
 */
export async function discardOldState(
  { dir, dataDir, journal, platform }: OldState,
  except: readonly string[] = [],
): Promise<void> {
  const places = { dir, id: journal.id };
  await putJournal(dataDir, { ...journal, state: 'done' });
  await platform.database.discard(journal.id, { previous: true });
  await removeStaging(places);
  await removePreviousItems(places, journal.items, except);
  await removeJournal(dataDir, journal.id);
}

/**
 * Removes the previous state of every restore whose late checks failed. It is kept until `--abort` or the next good
 * backup. Also finishes interrupted removals.
 */
export async function discardKeptStates(settings: Settings, platform: Platform): Promise<void> {
  const dataDir = dataDirectory(settings);
  for (const journal of await listJournals(dataDir)) {
    if (journal.state !== 'kept' && journal.state !== 'done') continue;
    await discardOldState({ dir: settings.dir, dataDir, journal, platform });
  }
}
