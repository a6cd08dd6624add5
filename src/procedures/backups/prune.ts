import {
  deleteSet,
  judgeSets,
  listSets,
  type PruneStep,
  planPrune,
  reapLeftovers,
} from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { findEntry } from '../../files/index.ts';
import { pruneArchive } from '../archive.ts';
import { lockRoot } from '../locks.ts';
import { backupRoot } from '../platform.ts';
import { checkInterrupted, type Finding } from '../run.ts';
import type { PruneOptions, PruneResult } from './list.ts';
import { futureFinding } from './list.ts';

/** Deletes expired sets. A dry run makes the same decisions and deletes nothing. @throws IDKIT_LOCKED */
export async function pruneBackups(settings: Settings, options: PruneOptions): Promise<PruneResult> {
  const root = backupRoot(settings, options.root);
  const keepDays = options.keepDays ?? settings.backup.keepDays;
  const plan = () => planDeletions(root, { now: options.clock.now(), keepDays });
  const pruneMoments = async () => {
    const since = options.clock.now() - keepDays * 86_400_000;
    // Another root says nothing about the platform's archive.
    if (options.root !== undefined) return {};
    const steps = await pruneArchive(settings, {
      since,
      dryRun: options.dryRun === true,
      signal: options.signal,
    });
    const archive = steps.map(({ chain, action, reason, files }) => ({
      name: chain,
      action,
      reason,
      files: files.length,
    }));
    return archive.length > 0 ? { archive } : {};
  };
  if (options.dryRun === true || findEntry(root) === undefined) {
    const decisions = await plan();
    const findings = await findFuture(root, options);
    return { root, decisions, deleted: [], findings, ...(await pruneMoments()) };
  }
  const lock = await lockRoot(root, 'exclusive', 'backups prune');
  try {
    await reapLeftovers(root);
    const decisions = await plan();
    const deleted = await deleteSets(root, decisions, options.signal);
    const findings = await findFuture(root, options);
    return { root, decisions, deleted, findings, ...(await pruneMoments()) };
  } finally {
    await lock.release();
  }
}

/** Returns a finding for each set that is dated more than an hour ahead. Such a set is kept. */
async function findFuture(root: string, { clock }: PruneOptions): Promise<readonly Finding[]> {
  const { sets } = await listSets(root, clock.now());
  return sets.flatMap(({ name, future }) => (future ? [futureFinding(name)] : []));
}

/** Applies the retention rule to every set of a root. */
export async function planDeletions(
  root: string,
  options: { now: number; keepDays: number },
): Promise<readonly PruneStep[]> {
  const { sets } = await listSets(root, options.now);
  return planPrune(await judgeSets(root, sets), options);
}

/** Deletes the expired sets of a plan, oldest first. The caller holds the exclusive lock of the root. */
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
