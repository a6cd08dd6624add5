import { IdkitError } from '../core/index.ts';
import type { Target } from '../target/index.ts';
import { damaged } from './format/sealed-file.ts';
import type { ArchiveKeys } from './keys.ts';
import type { ArchiveState } from './local-state.ts';
import { ArchiveReader, type ChainListing, listChains } from './read-chain.ts';
import { type RestorableRange, restorableRanges } from './recovery-plan.ts';

/** What a check of an archive found. */
export interface ArchiveVerdict {
  files: number;
  bytes: number;
  /** Each one names a file. Empty for a good archive. */
  problems: readonly string[];
  ranges: readonly RestorableRange[];
}

/**
 * Reads and checks every file of an archive.
 *
 * @param known what this machine wrote; a target that lacks some of it is damaged
 * @throws IDKIT_MASTER_KEY_WRONG if another master key is needed; IDKIT_UNREACHABLE
 */
export async function checkArchive(
  target: Target,
  keys: ArchiveKeys,
  known: ArchiveState | undefined,
  onProgress: (bytes: number) => void = () => {},
): Promise<ArchiveVerdict> {
  const reader = new ArchiveReader(target, keys);
  const listings = await listChains(target);
  const problems: string[] = [];
  let [files, bytes] = [0, 0];
  const guard = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (
        !(error instanceof IdkitError) ||
        (error.code !== 'IDKIT_DAMAGED' && error.code !== 'IDKIT_NOT_FOUND')
      )
        throw error;
      problems.push(error.message);
    }
  };
  const whole: ChainListing[] = [];
  for (const listing of listings) {
    const before = problems.length;
    files += listing.files.size;
    for (const name of listing.unknown) problems.push(`the archive contains a foreign file: ${name}`);
    await guard(async () => void (await reader.chain(listing)));
    if (problems.length > before) continue;
    const count = (length: number) => {
      bytes += length;
      onProgress(bytes);
    };
    const bases = await readBases(reader, listing, guard);
    for (const base of bases)
      await guard(async () => {
        for await (const part of reader.base(listing, base.base)) count(part.length);
      });
    await guard(async () => {
      // Retention removed the log before the oldest base.
      const [first] = bases;
      const start = listing.logs[0]?.number === 1 ? undefined : first?.after;
      for await (const { content } of reader.log(listing, start)) count(content.length);
    });
    if (problems.length === before) whole.push(listing);
  }
  await guard(async () => checkNewest(listings, known));
  return { files, bytes, problems, ranges: await restorableRanges(reader, whole) };
}

async function readBases(
  reader: ArchiveReader,
  listing: ChainListing,
  guard: (work: () => Promise<void>) => Promise<void>,
) {
  let bases: Awaited<ReturnType<ArchiveReader['bases']>> = [];
  await guard(async () => {
    bases = await reader.bases(listing);
  });
  return bases;
}

/**
 * Checks that the target still has the newest file that this machine wrote: whoever controls the target cannot forge a
 * file, but can hide the newest ones.
 */
function checkNewest(listings: readonly ChainListing[], known: ArchiveState | undefined): void {
  if (known === undefined || known.chain.log.number === 0) return;
  const { chain, log } = known.chain;
  const newest = listings.find(({ name }) => name === chain)?.logs.at(-1)?.number ?? 0;
  if (newest < log.number)
    throw damaged(
      `${chain}/log`,
      `its newest file is number ${newest}, but this machine wrote number ${log.number}`,
    );
}
