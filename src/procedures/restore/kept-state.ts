import type { Settings } from '../../config/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { listJournals, putJournal, removeJournal } from './journal.ts';
import { discardItems } from './replace-files.ts';
import { dataDirectory } from './settings-after.ts';
import type { Undoable } from './undo.ts';

/**
 * Removes what a restore kept aside. The journal says first that the restored state is proven: cut off in the
 * middle, nothing may lead back to half an old state.
 */
export async function discardOldState(undoable: Undoable, except: readonly string[] = []): Promise<void> {
  const { dir, dataDir, journal, runtime } = undoable;
  await putJournal(dataDir, { ...journal, state: 'done' });
  await runtime.discardDatabase(journal.id, { old: true });
  await discardItems({ dir, id: journal.id }, journal.items, { old: true, except });
  await removeJournal(dataDir, journal.id);
}

/**
 * Removes what restores with red late checks kept aside: it is kept until `--abort` or the next good backup
 * (contract §3, restore). Finishes removals that were cut off.
 */
export async function discardKeptState(settings: Settings, runtime: Runtime): Promise<void> {
  const dataDir = dataDirectory(settings);
  for (const journal of await listJournals(dataDir)) {
    if (journal.state !== 'kept' && journal.state !== 'done') continue;
    await discardOldState({ dir: settings.dir, dataDir, journal, runtime });
  }
}
