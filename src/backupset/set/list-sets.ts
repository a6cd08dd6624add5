import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';
import type { ListedSet, PlannedName, RootListing } from '../contract.ts';
import { reading } from '../faults.ts';
import { formatSetName, parseSetName } from './names.ts';

/** A set further ahead of the clock than this was dated by a wrong clock (contract §3, verify). */
const FUTURE_MILLISECONDS = 3_600_000;

/**
 * What a backup root holds. Links are never followed and files never taken for sets; a root that does not exist
 * holds nothing. `now` in milliseconds.
 *
 * @throws IDKIT_FAILED where the root cannot be read
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

/** Dated more than an hour ahead of the clock; both in milliseconds. */
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
 * The name for a set that begins now: unique and increasing. Within the second of the newest set it waits for the
 * next; behind the newest set it follows that one. Sets dated more than an hour ahead do not count, but their
 * names are not taken either (contract §3, backup).
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

/** `.partial-NAME-PID`, where a set is made. */
export function partialName(name: string): string {
  return `.partial-${name}-${process.pid}`;
}

/** True for the name of a working directory, whoever made it. */
function isPartialName(name: string): boolean {
  return /^\.partial-\d{8}_\d{6}-\d+$/.test(name);
}

/** `.trash-NAME`, under which a set is deleted. */
export function trashName(name: string): string {
  return `.trash-${name}`;
}

/** True for the name of a deletion that did not end. */
function isTrashName(name: string): boolean {
  return /^\.trash-\d{8}_\d{6}(-\d+)?$/.test(name);
}
