import {
  type ArchiveKeys,
  ArchiveReader,
  type ChainEnd,
  type ChainListing,
  type FileHeader,
  type LogEnd,
  listChains,
  readBaseName,
} from '../../../archive/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { Lsn } from '../../../pgtools/index.ts';
import type { Target } from '../../../target/index.ts';
import { type ChainFacts, parseArchives, readChainFacts } from './facts.ts';

const NO_BASE = { position: 0n, end: { number: 0, hash: '' }, baseBytes: 0, at: 0 };

/** The end of the WAL in a chain. */
export interface LogPosition {
  timeline: number;
  position: Lsn;
  /** Unix time in milliseconds up to which every confirmed write is in the chain. */
  through: number | undefined;
}

/** The newest chain of an archive, and where it can be continued. */
export interface ArchiveHead {
  listing: ChainListing;
  facts: ChainFacts;
  /** Undefined if the base is not complete. Then the chain can neither be restored nor continued. */
  end: (ChainEnd & LogPosition) | undefined;
  /** The newest complete base. */
  newest: StartOfLog & { at: number };
}

/** Where the WAL of a base begins. */
export interface StartOfLog {
  /** A position before which the base needs no WAL. */
  position: Lsn;
  /** The end of the log before that position. */
  end: LogEnd;
  /** The size of the base in bytes. */
  baseBytes: number;
}

/**
 * Finds the newest chain of an archive. Returns undefined if it has no chain of a Postgres cluster.
 *
 * @throws IDKIT_DAMAGED; IDKIT_SETTING if another platform writes to the target
 */
export async function findHead(target: Target, keys: ArchiveKeys): Promise<ArchiveHead | undefined> {
  const reader = new ArchiveReader(target, keys);
  const listing = (await listChains(target)).findLast(({ files }) => files.has('chain'));
  if (listing === undefined) return undefined;
  const chain = await readOwn(reader, listing, target);
  const facts = readChainFacts(chain.header);
  if (facts === undefined) return undefined;
  const last = listing.logs.at(-1);
  if (listing.baseEnds.length === 0 || last === undefined)
    return { listing, facts, end: undefined, newest: NO_BASE };
  const { header, hash } = await reader.header(listing.name, last.name);
  const end = {
    chain: listing.name,
    chainHash: chain.hash,
    base: newestBase(listing),
    log: { number: header.number, hash },
    timeline: header.generation,
    position: BigInt(header.start + header.bytes),
    through: header.marks.at(-1)?.at,
  };
  const base = (await reader.bases(listing)).at(-1)!;
  const newest = {
    // The log after this place contains the WAL file in which the base begins, so no later base needs more.
    position: 0n,
    end: base.after,
    at: base.first.at,
    baseBytes: parseArchives(listing, base).reduce((sum, { bytes }) => sum + bytes, 0),
  };
  return { listing, facts, end, newest };
}

/** Reads the first file of a chain. @throws IDKIT_SETTING if another platform wrote it */
async function readOwn(
  reader: ArchiveReader,
  listing: ChainListing,
  target: Target,
): Promise<{ header: FileHeader; hash: string }> {
  try {
    return await reader.chain(listing);
  } catch (cause) {
    if (!(cause instanceof IdkitError) || cause.code !== 'IDKIT_MASTER_KEY_WRONG') throw cause;
    throw new IdkitError(
      'IDKIT_SETTING',
      `backup.archive: ${target.label} contains the archive of another platform`,
      {
        cause,
        hints: ['give each platform a place of its own', 'after a change of the master key, use a new place'],
      },
    );
  }
}

/** Returns the number of the newest base of a chain, complete or not. */
function newestBase({ files }: ChainListing): number {
  let newest = 0;
  for (const name of files.keys()) newest = Math.max(newest, readBaseName(name)?.base ?? 0);
  return newest;
}
