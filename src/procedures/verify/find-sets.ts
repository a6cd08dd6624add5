import { basename, dirname, resolve } from 'node:path';
import {
  isFuture,
  judgeSets,
  type ListedSet,
  listSets,
  openSet,
  SET_FILES,
  type SetHandle,
} from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { backupRoot } from '../platform.ts';
import type { VerifyOptions } from './options.ts';

export interface FoundSets {
  /** The backup root, or the parent directory of an explicit set. */
  root: string;
  sets: readonly SetHandle[];
  /** The newest set that can be restored. `startedAt` is a Unix time in milliseconds. */
  newest?: { name: string; startedAt: number };
  /** Names of sets that are dated more than an hour ahead. */
  future: readonly string[];
  /** True if the operator named the set. */
  explicit: boolean;
}

/** @throws IDKIT_NOT_FOUND if the explicit set does not exist */
export async function findSets(settings: Settings, options: VerifyOptions): Promise<FoundSets> {
  if (options.set !== undefined) return findExplicit(options.set, options.clock.now());
  const root = backupRoot(settings, options.root);
  const now = options.clock.now();
  const { sets } = await listSets(root, now);
  const judged = await judgeSets(root, sets);
  const newest = judged.findLast(({ whole, future }) => whole && !future);
  const chosen: readonly ListedSet[] = options.all === true ? sets : newest === undefined ? [] : [newest];
  return {
    root,
    sets: await Promise.all(chosen.map(({ dir }) => openSet(dir))),
    ...(newest === undefined ? {} : { newest: { name: newest.name, startedAt: newest.startedAt } }),
    future: sets.filter(({ future }) => future).map(({ name }) => name),
    explicit: false,
  };
}

/**
 * Returns the name of the last sealed set before the newest set, or undefined if no earlier set is sealed. A set after
 * a sealed set should have a seal, because it cannot come from an idkit version without seals.
 */
export async function findSealedBefore({ root, newest, explicit }: FoundSets): Promise<string | undefined> {
  if (newest === undefined || explicit) return undefined;
  const { sets } = await listSets(root, newest.startedAt);
  const older = (await judgeSets(root, sets)).filter(
    ({ whole, startedAt }) => whole && startedAt < newest.startedAt,
  );
  for (const { dir, name } of older.toReversed())
    if ((await openSet(dir)).names.includes(SET_FILES.seal)) return name;
  return undefined;
}

async function findExplicit(dir: string, now: number): Promise<FoundSets> {
  const set = await openSet(resolve(dir));
  const { startedAt } = set;
  return {
    root: dirname(set.dir),
    sets: [set],
    ...(startedAt === undefined ? {} : { newest: { name: basename(set.dir), startedAt } }),
    future: startedAt !== undefined && isFuture(startedAt, now) ? [set.name] : [],
    explicit: true,
  };
}
