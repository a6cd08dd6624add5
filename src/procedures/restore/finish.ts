import { writeConfigArchive } from '../../backupset/index.ts';
import { findEntry } from '../../files/index.ts';
import { checkInterrupted } from '../run.ts';
import { previousPath, removeEmptyStaging } from './files-in-place.ts';
import { discardOldState } from './old-state.ts';
import { type Restore, record } from './work.ts';

/**
 * Stops the service that this process runs and ends the restore. Without findings it removes the previous state. With
 * findings the previous state stays until `--abort` or the next good backup.
 */
export async function finishRestore(restore: Restore): Promise<undefined> {
  const { next, journal, dataDir, settings, run, options } = restore;
  await next.platform.service.stop();
  const places = { dir: settings.dir, id: journal.id };
  const previous = journal.items.filter(({ had }) => had).map(({ name }) => previousPath(places, name));
  if (run.findings.length > 0) {
    await record(restore, { state: 'kept', step: 'finish' });
    await removeEmptyStaging(places);
    restore.kept = previous;
    return;
  }
  const config = previousPath(places, 'config');
  const stays = await holdsMoreThanBackup(config, options.signal);
  const oldState = { dir: settings.dir, dataDir, journal, platform: next.platform };
  try {
    await discardOldState(oldState, stays ? ['config'] : []);
  } catch (error) {
    checkInterrupted(options.signal);
    const why = error instanceof Error ? error.message : String(error);
    run.finding('CLEANUP_FAILED', `the previous state could not be removed: ${why}`);
    restore.kept = previous;
    return;
  }
  if (!stays) return;
  options.reporter.note(`${config} stays because it contains files that no backup contains`);
  restore.kept = [config];
}

/** True if the previous configuration contains files that a backup leaves out. */
async function holdsMoreThanBackup(configDir: string, signal: AbortSignal): Promise<boolean> {
  if (findEntry(configDir)?.isDirectory() !== true) return false;
  const report = await writeConfigArchive({ configDir }, async () => undefined, { signal });
  return report.leftOut.length > 0;
}
