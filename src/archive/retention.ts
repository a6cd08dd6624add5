import type { Target } from '../target/index.ts';
import { readBaseName } from './format/names.ts';
import { type ArchiveReader, type ChainListing, listChains } from './read-chain.ts';

/** What retention does with a chain, and why. */
export interface ChainStep {
  chain: string;
  /** `trim` deletes the beginning of a chain: bases and log that no kept moment needs. */
  action: 'keep' | 'trim' | 'delete';
  reason: string;
  /** The names of the files to delete below the target, in the order that leaves no broken chain behind. */
  files: readonly string[];
}

/** How many files one run deletes at most. The next run continues. */
const MOST_DELETIONS = 10_000;

/**
 * Decides what nobody needs to restore a moment since `since`: everything before the newest complete base that is not
 * newer. So the newest base always stays, and a wrong clock deletes only moments before it. Changes nothing.
 *
 * @param since milliseconds since 1970
 * @throws IDKIT_DAMAGED if the beginning of a chain cannot be read; IDKIT_MASTER_KEY_WRONG
 */
export async function planRetention(
  reader: ArchiveReader,
  listings: readonly ChainListing[],
  since: number,
): Promise<readonly ChainStep[]> {
  const limit = new Date(since).toISOString();
  const steps: ChainStep[] = [];
  let isNeeded = true;
  let isComplete = false;
  for (const listing of listings.toReversed()) {
    const chain = listing.name;
    if (!isNeeded) {
      const reason = `every moment since ${limit} can be restored from newer chains`;
      steps.push({ chain, action: 'delete', reason, files: filesOf(listing) });
      continue;
    }
    await reader.chain(listing);
    const bases = await reader.bases(listing);
    if (bases.length === 0 && isComplete) {
      const reason = 'its first base was never complete, and a newer chain has one';
      steps.push({ chain, action: 'delete', reason, files: filesOf(listing) });
      continue;
    }
    isComplete ||= bases.length > 0;
    const base = bases.findLast(({ first }) => first.at <= since);
    isNeeded = base === undefined;
    const files = base === undefined ? [] : filesBefore(listing, base);
    const reason =
      base === undefined
        ? `it has no base from before ${limit}`
        : `base ${base.base} is needed for moments since ${limit}`;
    steps.push({ chain, action: files.length > 0 ? 'trim' : 'keep', reason, files });
  }
  return steps.reverse();
}

/**
 * Deletes what a plan says, the oldest chain first.
 *
 * @param most the number of files after which it stops
 * @returns the number of deleted files, and whether the plan is done
 */
export async function applyRetention(
  target: Target,
  steps: readonly ChainStep[],
  { most = MOST_DELETIONS, signal }: { most?: number; signal?: AbortSignal } = {},
): Promise<{ deleted: number; isDone: boolean }> {
  let deleted = 0;
  for (const { files } of steps)
    for (const name of files) {
      if (deleted >= most) return { deleted, isDone: false };
      signal?.throwIfAborted();
      await target.remove(name, signal);
      deleted++;
    }
  return { deleted, isDone: true };
}

/** Deletes a chain whose first base was not completed. */
export async function forgetChain(target: Target, chain: string, signal: AbortSignal): Promise<void> {
  const listing = (await listChains(target)).find(({ name }) => name === chain);
  for (const name of listing === undefined ? [] : filesOf(listing)) await target.remove(name, signal);
}

/** Deletes the parts of a base that was not completed. */
export async function forgetBase(
  target: Target,
  chain: string,
  base: number,
  signal: AbortSignal,
): Promise<void> {
  const listing = (await listChains(target)).find(({ name }) => name === chain);
  const names = [...(listing?.files.keys() ?? [])].filter((name) => readBaseName(name)?.base === base);
  for (const name of names) await target.remove(`${chain}/${name}`, signal);
}

/** The ends of the bases go first, so that no base counts without its log. What is left is always a shorter chain. */
function filesOf({ name, files, baseEnds, logs }: ChainListing): string[] {
  const parts = [...files.keys()].filter((file) => readBaseName(file)?.part !== undefined);
  const newestFirst = logs.map((log) => log.name).toReversed();
  return [...baseEnds, ...parts, ...newestFirst, 'chain']
    .filter((file) => files.has(file))
    .map((file) => `${name}/${file}`);
}

/** The oldest log goes first: its absence says that the chain begins with its first base. */
function filesBefore(
  { name, files, baseEnds, logs }: ChainListing,
  { base, after }: { base: number; after: { number: number } },
): string[] {
  const isOlder = (file: string) => (readBaseName(file)?.base ?? base) < base;
  const parts = [...files.keys()].filter((file) => isOlder(file) && !file.endsWith('-end'));
  const older = logs.filter(({ number }) => number <= after.number);
  return [...baseEnds.filter(isOlder), ...parts, ...older.map((log) => log.name)].map(
    (file) => `${name}/${file}`,
  );
}
