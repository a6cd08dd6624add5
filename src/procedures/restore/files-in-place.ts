import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import { findEntry, syncDirectory } from '../../files/index.ts';
import type { ReplacedItem } from './journal.ts';

/** Identifies the staged and the previous files of one restore. All of them are in the platform directory. */
export interface Places {
  dir: string;
  /** Id of the restore. */
  id: string;
}

/** Returns the folder that holds the staged `.env`, `config` and so on until the swap. */
export function stagingDirectory(places: Places): string {
  return join(places.dir, `.restore-${places.id}`);
}

/** Returns the path under which the previous item is kept. */
export function previousPath(places: Places, name: string): string {
  return join(places.dir, `${name}.pre-${places.id}`);
}

/** Renames every staged item into its place. An interrupted call can be repeated. */
export async function replaceItems(places: Places, items: readonly ReplacedItem[]): Promise<void> {
  for (const { name, had } of items) {
    const staged = join(stagingDirectory(places), name);
    const target = join(places.dir, name);
    if (findEntry(staged) === undefined) continue;
    const previous = previousPath(places, name);
    if (had && findEntry(previous) === undefined) await rename(target, previous);
    await rename(staged, target);
    syncDirectory(places.dir);
  }
}

/** Renames every previous item back into its place. Does nothing if no item was replaced, and can be repeated. */
export async function putItemsBack(places: Places, items: readonly ReplacedItem[]): Promise<void> {
  for (const { name, had } of items.toReversed()) {
    const staged = join(stagingDirectory(places), name);
    const target = join(places.dir, name);
    const previous = previousPath(places, name);
    const isReplaced = !had || findEntry(previous) !== undefined;
    if (isReplaced && findEntry(staged) === undefined && findEntry(target) !== undefined) {
      await mkdir(stagingDirectory(places), { recursive: true, mode: 0o700 });
      await rename(target, staged);
    }
    if (findEntry(previous) !== undefined) await rename(previous, target);
    syncDirectory(places.dir);
  }
}

/** Removes the staging folder if it is empty. */
export async function removeEmptyStaging(places: Places): Promise<void> {
  try {
    await rmdir(stagingDirectory(places));
  } catch (error) {
    // A folder that is missing or still holds a file does no harm.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemErrorCode(error) ?? '')) throw error;
  }
}

/** Removes the staging folder and everything in it. */
export async function removeStaging(places: Places): Promise<void> {
  await rm(stagingDirectory(places), { recursive: true, force: true });
}

/** Removes the previous items, but not those that `except` names. */
export async function removePreviousItems(
  places: Places,
  items: readonly ReplacedItem[],
  except: readonly string[],
): Promise<void> {
  for (const { name } of items) {
    if (!except.includes(name)) await rm(previousPath(places, name), { recursive: true, force: true });
  }
}
