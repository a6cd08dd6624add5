import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { acquireLock, platformPaths, type Settings } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { findEntry } from '../files/index.ts';
import type { Reporter } from './run.ts';

/** The lock ends with `release` or with the process. */
export interface HeldLock {
  release(): Promise<void>;
}

/** Locks a backup root. @throws IDKIT_LOCKED with the holder, IDKIT_DIRECTORY_NOT_WRITABLE */
export function lockRoot(root: string, mode: 'exclusive' | 'shared', command: string): Promise<HeldLock> {
  return acquireLock(join(root, '.lock'), { mode, record: { command } });
}

/**
 * Locks a backup root. Returns undefined if the root is missing, full or not writable. Such a root also causes a note,
 * because the command then runs without a lock.
 */
export async function lockRootIfWritable(
  root: string,
  mode: 'exclusive' | 'shared',
  command: string,
  reporter: Reporter,
): Promise<HeldLock | undefined> {
  if (findEntry(root) === undefined) return undefined;
  try {
    await access(root, constants.W_OK);
    return await lockRoot(root, mode, command);
  } catch (error) {
    // A full disk is a reason to verify and restore, not to refuse it.
    const isFull = error instanceof IdkitError && error.code === 'IDKIT_NO_SPACE';
    if (error instanceof IdkitError && error.code !== 'IDKIT_DIRECTORY_NOT_WRITABLE' && !isFull) throw error;
    const state = isFull ? 'has no free space' : 'is not writable';
    reporter.note(`${root} ${state}, so ${command} runs without its lock and does not store the verdict`);
    return undefined;
  }
}

/**
 * True if idkit uses the directory as a backup root. Other directories are not locked, and no verdicts are stored in
 * them.
 */
export async function isBackupRoot(dir: string, settings: Settings): Promise<boolean> {
  if (findEntry(join(dir, '.lock')) !== undefined) return true;
  if (findEntry(settings.backup.root) === undefined) return false;
  return (await realpath(settings.backup.root)) === (await realpath(dir));
}

/** The locks of one restore. */
export interface RestoreLocks extends HeldLock {
  /** Locks the platform directory and creates its `data/` if necessary. Repeated calls do nothing. */
  lockPlatform(): Promise<void>;
  /** Adds a lock that is released before the others. */
  hold(lock: HeldLock | undefined): void;
}

/**
 * Locks the root of the set, the platform's own backup root and the platform. A drill only reads the set, so it shares
 * the lock of the root.
 *
 * @throws IDKIT_LOCKED with the holder
 */
export async function lockForRestore(
  settings: Settings,
  setDir: string | undefined,
  options: { reporter: Reporter; mode: 'exclusive' | 'shared' },
): Promise<RestoreLocks> {
  const { reporter, mode } = options;
  const held: HeldLock[] = [];
  const release = async () => {
    for (const lock of held.splice(0).toReversed()) await lock.release();
  };
  const { data } = platformPaths(settings.dir);
  let locked = false;
  const lockPlatform = async () => {
    if (locked) return;
    await mkdir(data, { recursive: true, mode: 0o700 });
    held.push(
      await acquireLock(join(data, 'restore.lock'), { mode: 'exclusive', record: { command: 'restore' } }),
    );
    locked = true;
  };
  try {
    for (const root of await rootsToLock(settings, setDir)) {
      const lock = await lockRootIfWritable(root, mode, 'restore', reporter);
      if (lock !== undefined) held.push(lock);
    }
    if (findEntry(data) !== undefined) await lockPlatform();
    const hold = (lock: HeldLock | undefined) => {
      if (lock !== undefined) held.push(lock);
    };
    return { lockPlatform, hold, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function rootsToLock(settings: Settings, setDir: string | undefined): Promise<ReadonlySet<string>> {
  const roots = new Set<string>();
  if (setDir !== undefined && (await isBackupRoot(dirname(setDir), settings))) roots.add(dirname(setDir));
  if (findEntry(settings.backup.root) !== undefined) roots.add(await realpath(settings.backup.root));
  return roots;
}
