import { mkdir } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createSetWriter,
  listSets,
  planSetName,
  reapLeftovers,
  type SetEncryption,
  type SetWriter,
} from '../../backupset/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { writeFault } from '../../files/index.ts';
import { type HeldLock, lockRoot } from '../locks.ts';
import type { BackupOptions } from './options.ts';

/** An unfinished set and the lock of its root. */
export interface OpenedSet {
  lock: HeldLock;
  writer: SetWriter;
  /** Unix time in milliseconds. The name of the set contains it. */
  startedAt: number;
  /** True if the newest set is ahead of the clock. */
  clockBehind: boolean;
}

/**
 * Locks the root, removes the leftovers of killed runs and begins a set with the next unique name.
 *
 * @throws IDKIT_LOCKED, IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function openSetInRoot(
  root: string,
  options: BackupOptions,
  encryption: SetEncryption | undefined,
): Promise<OpenedSet> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Missing parents are created, so only a link to a missing target causes ENOENT.
    if (systemErrorCode(error) === 'ENOENT') {
      throw new IdkitError('IDKIT_DIRECTORY_NOT_WRITABLE', `${root} is a link to a missing directory`, {
        cause: error,
      });
    }
    throw writeFault(root, error);
  }
  const lock = await lockRoot(root, 'exclusive', 'backup');
  try {
    await reapLeftovers(root);
    for (;;) {
      const now = options.clock.now();
      const { sets } = await listSets(root, now);
      for (const set of sets) {
        if (set.future) options.reporter.note(`${set.name} is dated more than an hour ahead of the clock`);
      }
      const plan = planSetName(sets, now);
      if (plan.waitMilliseconds > 0) {
        await wait(plan.waitMilliseconds, undefined, { signal: options.signal });
        continue;
      }
      const writer = await createSetWriter(root, plan.name, encryption);
      return { lock, writer, startedAt: plan.startedAt, clockBehind: plan.clockBehind };
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}
