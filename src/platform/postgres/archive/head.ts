import {
  type ArchiveKeys,
  ArchiveReader,
  type ChainEnd,
  type ChainListing,
  listChains,
} from '../../../archive/index.ts';
import type { Lsn } from '../../../pgtools/index.ts';
import type { Target } from '../../../target/index.ts';
import { type ChainFacts, readChainFacts } from './facts.ts';

/** The newest chain of an archive, and where it can be continued. */
export interface ArchiveHead {
  listing: ChainListing;
  facts: ChainFacts;
  /** Undefined if the base is not complete. Then the chain can neither be restored nor continued. */
  end: (ChainEnd & { timeline: number; position: Lsn; through: number | undefined }) | undefined;
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
  const chain = await reader.chain(listing);
  const facts = readChainFacts(chain.header);
  if (facts === undefined) return undefined;
  const last = listing.logs.at(-1);
  if (!listing.files.has('base-end') || last === undefined) return { listing, facts, end: undefined };
  const { header, hash } = await reader.header(listing.name, last.name);
  const end = {
    chain: listing.name,
    chainHash: chain.hash,
    log: { number: header.number, hash },
    timeline: header.generation,
    position: BigInt(header.start + header.bytes),
    through: header.marks.at(-1)?.at,
  };
  return { listing, facts, end };
}
