import { deleteSet, judgeSets, listSets, type PruneStep, planPrune } from '../../backupset/index.ts';
import { checkInterrupted } from '../runbook.ts';

/** What the retention rule says of every set of a root. */
export async function planDeletions(
  root: string,
  options: { now: number; keepDays: number },
): Promise<readonly PruneStep[]> {
  const { sets } = await listSets(root, options.now);
  return planPrune(await judgeSets(root, sets), options);
}

/** Deletes what the plan says, oldest first. The caller holds the root's lock alone. Gives the names. */
export async function deleteSets(
  root: string,
  plan: readonly PruneStep[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const { name, action } of plan) {
    if (action !== 'delete') continue;
    checkInterrupted(signal);
    await deleteSet(root, name);
    deleted.push(name);
  }
  return deleted;
}
