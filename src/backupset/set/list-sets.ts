import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import type { ListedSet, PlannedName, RootListing } from '../contract.ts';
import { reading } from '../faults.ts';
import { formatSetName, parseSetName } from './names.ts';

/** Time in milliseconds by which a set must be ahead of the clock to count as dated in the future. */
const FUTURE_MILLISECONDS = 3_600_000;

/**
 * Lists the contents of a backup root. Links are not followed, and only directories are sets. A root that does not
 * exist is empty.
 *
 * @param now Unix time in milliseconds
 * @throws IDKIT_FAILED if the root cannot be read
 */
export async function listSets(root: string, now: number): Promise<RootListing> {
  const sets: ListedSet[] = [];
  const partials: string[] = [];
  const trash: string[] = [];
  for (const entry of await readRoot(root)) {
    if (!entry.isDirectory()) continue;
    const startedAt = parseSetName(entry.name);
    if (startedAt !== undefined) {
      sets.push({
        name: entry.name,
        dir: resolve(join(root, entry.name)),
        startedAt,
        future: isFuture(startedAt, now),
      });
    } else if (isPartialName(entry.name)) partials.push(entry.name);
    else if (isTrashName(entry.name)) trash.push(entry.name);
  }
  sets.sort((a, b) => a.startedAt - b.startedAt);
  return { sets, partials: partials.sort(), trash: trash.sort() };
}

/** True for a set dated more than an hour ahead of the clock. Both times are in milliseconds. */
export function isFuture(startedAt: number, now: number): boolean {
  return startedAt > now + FUTURE_MILLISECONDS;
}

async function readRoot(root: string) {
  try {
    return await readdir(root, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    return reading(root, () => Promise.reject(error));
  }
}

/**
 * Plans the name for a new set. Names are unique and increase. If the newest set is named after the current second, the
 * caller waits for the next second. If the newest set is ahead of the clock, the name follows that set. Sets dated more
 * than an hour ahead are ignored, because the planned name is never that far ahead.
 */
export function planSetName(sets: readonly ListedSet[], now: number): PlannedName {
  const newest = sets.filter((set) => !set.future).at(-1)?.startedAt;
  const second = Math.floor(now / 1000) * 1000;
  if (newest === undefined || newest < second)
    return { name: formatSetName(second), startedAt: second, waitMilliseconds: 0, clockBehind: false };
  const next = newest + 1000;
  return {
    name: formatSetName(next),
    startedAt: next,
    waitMilliseconds: newest === second ? next - now : 0,
    clockBehind: newest > second,
  };
}

/** Returns `.partial-NAME-PID`, the name of a new set's working directory. */
export function partialName(name: string): string {
  return `.partial-${name}-${process.pid}`;
}

/** True for the name of a working directory of any process. */
function isPartialName(name: string): boolean {
  return /^\.partial-\d{8}_\d{6}-\d+$/.test(name);
}

/** Returns `.trash-NAME`, the name of a set while it is being deleted. */
export function trashName(name: string): string {
  return `.trash-${name}`;
}

/** True for the name of an unfinished deletion. */
function isTrashName(name: string): boolean {
  return /^\.trash-\d{8}_\d{6}(-\d+)?$/.test(name);
}
