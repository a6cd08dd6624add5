import { mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import { findEntry, syncDirectory } from '../durable.ts';
import type { ReplacedItem } from './journal.ts';

/** Where one restore keeps what it puts in place, and what it took away. All in the platform directory. */
export interface Places {
  dir: string;
  id: string;
}

/** The folder that holds the new `.env`, `config` and so on until the swap. */
export function stagingDirectory(places: Places): string {
  return join(places.dir, `.restore-${places.id}`);
}

/** Where the old item is kept aside. */
export function keptAside(places: Places, name: string): string {
  return join(places.dir, `${name}.pre-${places.id}`);
}

/** Puts every staged item in place by rename. A call that was cut off anywhere may be repeated. */
export async function replaceItems(places: Places, items: readonly ReplacedItem[]): Promise<void> {
  for (const { name, had } of items) {
    const staged = join(stagingDirectory(places), name);
    const target = join(places.dir, name);
    if ((await findEntry(staged)) === undefined) continue;
    const old = keptAside(places, name);
    if (had && (await findEntry(old)) === undefined) await rename(target, old);
    await rename(staged, target);
    await syncDirectory(places.dir);
  }
}

/** Brings every old item back. Harmless where nothing was replaced; may be repeated. */
export async function bringBackItems(places: Places, items: readonly ReplacedItem[]): Promise<void> {
  for (const { name, had } of items.toReversed()) {
    const staged = join(stagingDirectory(places), name);
    const target = join(places.dir, name);
    const old = keptAside(places, name);
    const stillHeld = !had || (await findEntry(old)) !== undefined;
    if (stillHeld && (await findEntry(staged)) === undefined && (await findEntry(target)) !== undefined) {
      await mkdir(stagingDirectory(places), { recursive: true, mode: 0o700 });
      await rename(target, staged);
    }
    if ((await findEntry(old)) !== undefined) await rename(old, target);
    await syncDirectory(places.dir);
  }
}

/** Removes the staging folder once all of it is in place. */
export async function discardStaging(places: Places): Promise<void> {
  try {
    await rmdir(stagingDirectory(places));
  } catch (error) {
    // What is left in it, or that it is gone, is nothing to stop for.
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemErrorCode(error) ?? '')) throw error;
  }
}

/** Removes the staging folder and, with `old`, what was taken away; `except` names items that stay aside. */
export async function discardItems(
  places: Places,
  items: readonly ReplacedItem[],
  options: { old: boolean; except?: readonly string[] },
): Promise<void> {
  await rm(stagingDirectory(places), { recursive: true, force: true });
  if (!options.old) return;
  for (const { name } of items) {
    if (options.except?.includes(name)) continue;
    await rm(keptAside(places, name), { recursive: true, force: true });
  }
}
