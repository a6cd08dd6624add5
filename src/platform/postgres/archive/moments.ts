import type { ArchiveKeys } from '../../../archive/index.ts';
import {
  ArchiveReader,
  type BaseEnd,
  type ChainListing,
  damaged,
  listChains,
} from '../../../archive/index.ts';
import { IdkitError } from '../../../core/index.ts';
import {
  type BaseArchive,
  type RecoveredCluster,
  type RecoveryTarget,
  recoverCluster,
} from '../../../pgtools/index.ts';
import type { Target } from '../../../target/index.ts';
import { type ChainFacts, parseArchives, readChainFacts } from './facts.ts';
import { WalFiles } from './wal-files.ts';

/** A chain that can be restored, and the moments that it contains. Times are Unix times in milliseconds. */
export interface RestorableChain {
  listing: ChainListing;
  facts: ChainFacts;
  /** The complete bases, the oldest first. */
  bases: readonly BaseEnd[];
  /** The first moment. */
  first: number;
  /** The last moment that is proven. */
  last: number;
}

/** Returns the chains of an archive that can be restored, the oldest first. @throws IDKIT_DAMAGED */
export async function findChains(target: Target, keys: ArchiveKeys): Promise<readonly RestorableChain[]> {
  const reader = new ArchiveReader(target, keys);
  const chains: RestorableChain[] = [];
  for (const listing of await listChains(target)) {
    if (!listing.files.has('chain')) continue;
    const facts = readChainFacts((await reader.chain(listing)).header);
    const bases = await reader.bases(listing);
    const [oldest] = bases;
    if (facts === undefined || oldest === undefined) continue;
    const first = oldest.first.at;
    chains.push({ listing, facts, bases, first, last: Math.max(first, listing.logs.at(-1)?.until ?? 0) });
  }
  return chains;
}

/**
 * Chooses the chain that was live at a moment.
 *
 * @param time Unix time in milliseconds
 * @throws IDKIT_NOT_FOUND before the first base; IDKIT_DAMAGED in a gap between two chains
 */
export function chooseChain(chains: readonly RestorableChain[], time: number): RestorableChain {
  const chain = chains.findLast(({ first }) => first <= time);
  const show = (at: number) => new Date(at).toISOString();
  const hints = chains.map(({ first, last }) => `can be restored: ${show(first)} to ${show(last)}`);
  if (chain === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the archive contains no moment as early as ${show(time)}`, {
      hints,
    });
  // A moment after the newest is the newest.
  if (time > chain.last && chain !== chains.at(-1))
    throw new IdkitError('IDKIT_DAMAGED', `the archive has a gap at ${show(time)}`, { hints });
  return chain;
}

/** Returns the newest base of a chain that lies before a time, in Unix milliseconds. */
export function chooseBase({ listing, bases }: RestorableChain, time: number): BaseEnd {
  const base = bases.findLast(({ first }) => first.at <= time);
  if (base === undefined) throw new IdkitError('IDKIT_BUG', `${listing.name} has no base before the moment`);
  return base;
}

/** Recovers the cluster of a chain in a private directory below `dir`. */
export async function recoverChain(
  { listing, facts }: RestorableChain,
  options: {
    target: Target;
    keys: ArchiveKeys;
    dir: string;
    /** The base from which the recovery begins. */
    base: BaseEnd;
    to: RecoveryTarget;
    signal?: AbortSignal;
    onFile?: (name: string) => void;
  },
): Promise<RecoveredCluster> {
  const { target, keys, dir, base, to } = options;
  const reader = new ArchiveReader(target, keys);
  const files = new WalFiles(reader, listing, base, facts.walFileBytes);
  return recoverCluster(
    dir,
    {
      major: facts.major,
      timeline: files.timeline ?? facts.timeline,
      base: readArchives(reader, listing, base),
      supply: (name, path) => files.supply(name, path),
    },
    to,
    {
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.onFile === undefined ? {} : { onFile: options.onFile }),
    },
  );
}

/** Splits the content of a base into the archives of the base backup. */
async function* readArchives(
  reader: ArchiveReader,
  listing: ChainListing,
  base: BaseEnd,
): AsyncGenerator<BaseArchive & { content: AsyncIterable<Uint8Array> }> {
  const parts = reader.base(listing, base.base);
  const place = `${listing.name}, base ${base.base}`;
  let rest: Buffer = Buffer.alloc(0);
  async function* take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (rest.length === 0) {
        const { value, done } = await parts.next();
        if (done === true) throw damaged(place, 'the base is shorter than its list of archives');
        rest = value;
      }
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
  for (const { bytes, ...archive } of parseArchives(listing, base))
    yield { ...archive, content: take(bytes) };
  // Also the last part is checked against the end of the base.
  if (!(await parts.next()).done) throw damaged(place, 'the base is longer than its list of archives');
}
