import { IdkitError } from '../core/index.ts';
import type { BaseEnd, Mark } from './contract.ts';
import { chainBegin } from './format/names.ts';
import { damaged } from './format/sealed-file.ts';
import type { ArchiveState } from './local-state.ts';
import type { ArchiveReader, ChainListing } from './read-chain.ts';

/** A moment to restore: a time in milliseconds since 1970, or the moment before the transaction with an event. */
export type Moment = { at: number } | { before: string };

/** What must be read to restore a moment. */
export interface RecoveryPlan {
  chain: ChainListing;
  base: BaseEnd;
  /** The last transaction to restore. */
  mark: Mark & { generation: number };
}

/** A time of which every moment can be restored, in milliseconds since 1970. */
export interface RestorableRange {
  chain: string;
  from: number;
  until: number;
}

interface Restorable {
  listing: ChainListing;
  bases: readonly BaseEnd[];
  first: number;
  last: number;
  follows: string | null;
  /** Whether the chain before it ended with an orderly end of the service. */
  complete: boolean;
}

/**
 * Finds what a moment needs. A moment after the newest is the newest.
 *
 * @param known what this machine wrote to the target, if it did; files that the target hides are then noticed
 * @throws IDKIT_NOT_FOUND before the first base, or for an unknown event; IDKIT_DAMAGED within a gap
 */
export async function planRecovery(
  reader: ArchiveReader,
  listings: readonly ChainListing[],
  moment: Moment,
  known?: ArchiveState,
): Promise<RecoveryPlan> {
  if ('at' in moment) checkHidden(listings, moment.at, known);
  const chains: Restorable[] = [];
  for (const listing of listings) chains.push(await inspect(reader, listing));
  return 'before' in moment ? planBefore(reader, chains, moment.before) : planAt(reader, chains, moment.at);
}

/** Lists the times that can be restored, the oldest first. */
export async function restorableRanges(
  reader: ArchiveReader,
  listings: readonly ChainListing[],
): Promise<readonly RestorableRange[]> {
  const ranges: RestorableRange[] = [];
  for (const listing of listings) {
    const { bases, first, last } = await inspect(reader, listing);
    if (bases.length > 0) ranges.push({ chain: listing.name, from: first, until: last });
  }
  return ranges;
}

async function inspect(reader: ArchiveReader, listing: ChainListing): Promise<Restorable> {
  const { header } = await reader.chain(listing);
  const bases = await reader.bases(listing);
  const { follows, complete } = header.detail;
  const first = bases[0]?.first.at ?? Number.POSITIVE_INFINITY;
  return {
    listing,
    bases,
    first,
    last: Math.max(first, listing.logs.at(-1)?.until ?? first),
    follows: follows === null || follows === undefined ? null : String(follows),
    complete: complete === true,
  };
}

async function planAt(
  reader: ArchiveReader,
  chains: readonly Restorable[],
  at: number,
): Promise<RecoveryPlan> {
  const index = chains.findLastIndex(({ first, bases }) => bases.length > 0 && first <= at);
  const chosen = chains[index];
  if (chosen === undefined) throw beforeFirst(chains);
  const next = chains[index + 1];
  const superseded = next !== undefined && !(next.complete && next.follows === chosen.listing.name);
  if (at > chosen.last && superseded) throw withinGap(chains, at);
  const mark = await lastMark(reader, chosen, at);
  return withBase(chosen, mark);
}

/**
 * Rejects a moment in the time after the newest file of the target, if this machine wrote newer ones: the target would
 * otherwise choose the state that is restored. Earlier moments can still be restored.
 */
function checkHidden(listings: readonly ChainListing[], at: number, known: ArchiveState | undefined): void {
  if (known === undefined || known.chain.log.number === 0) return;
  const { chain, log } = known.chain;
  const newest = listings.find(({ name }) => name === chain)?.logs.at(-1);
  if ((newest?.number ?? 0) >= log.number) return;
  const last = newest?.until ?? chainBegin(chain) ?? 0;
  if (at <= last) return;
  throw new IdkitError(
    'IDKIT_DAMAGED',
    `the archive lacks files that this machine wrote: the newest of ${chain} is number ${newest?.number ?? 0} instead of ${log.number}`,
    { hints: [`moments up to ${new Date(last).toISOString()} are not affected: choose one with --at`] },
  );
}

/**
 * Finds the last transaction, in the order of the log, whose time is not after `at`. The clock may have been set back.
 *
 * @throws IDKIT_DAMAGED if a file of that time is missing; without this check the target could silently move the moment
 */
async function lastMark(
  reader: ArchiveReader,
  { listing, bases }: Restorable,
  at: number,
): Promise<Mark & { generation: number }> {
  const { logs } = listing;
  const before = logs.findLastIndex(({ until }) => until <= at);
  for (let index = Math.min(before + 1, logs.length - 1); index >= 0; index--) {
    const { header } = await reader.header(listing.name, logs[index]!.name);
    const mark = header.marks.findLast((candidate) => candidate.at <= at);
    checkNext(listing, logs[index]!.number, index + 1);
    if (mark !== undefined) return { ...mark, generation: header.generation };
  }
  const base = bases.findLast(({ first }) => first.at <= at) ?? bases[0]!;
  const { number } = base.after;
  checkNext(
    listing,
    number,
    logs.findIndex((log) => log.number > number),
  );
  return { ...base.first, generation: base.firstGeneration };
}

/** Checks that no file is missing between a number and the file at an index. @throws IDKIT_DAMAGED */
function checkNext({ name, logs }: ChainListing, number: number, index: number): void {
  const next = logs[index];
  if (next !== undefined && next.number > number + 1)
    throw damaged(`${name}/${next.name}`, `file ${number + 1} before it is missing`);
}

/** Finds the transaction that wrote the event's identifier for the first time, and the one before it. */
async function planBefore(
  reader: ArchiveReader,
  chains: readonly Restorable[],
  event: string,
): Promise<RecoveryPlan> {
  const wanted = Buffer.from(event, 'utf8');
  for (const chain of chains.toReversed()) {
    const [base] = chain.bases;
    if (base === undefined) continue;
    let previous: (Mark & { generation: number }) | undefined;
    for await (const { header, content } of reader.log(chain.listing, base.after)) {
      const { generation, start, marks } = header;
      const found = content.indexOf(wanted);
      const before = found < 0 ? undefined : marks.findLast(({ position }) => position <= start + found);
      const mark = before === undefined ? previous : { ...before, generation };
      if (found >= 0) {
        if (mark === undefined || !isReached(mark, base)) throw beforeFirst(chains);
        return withBase(chain, mark);
      }
      const last = marks.at(-1);
      if (last !== undefined) previous = { ...last, generation };
    }
  }
  throw new IdkitError('IDKIT_NOT_FOUND', `the archive contains no event ${event}`, {
    hints: ['idkit admin event list admin --realm REALM prints the ids', describeRanges(chains)],
  });
}

/** Chooses the newest base that lies before the transaction. */
function withBase(chain: Restorable, mark: Mark & { generation: number }): RecoveryPlan {
  const base = chain.bases.findLast((candidate) => isReached(mark, candidate)) ?? chain.bases[0]!;
  const reached = isReached(mark, base) ? mark : { ...base.first, generation: base.firstGeneration };
  return { chain: chain.listing, base, mark: reached };
}

function isReached(mark: Mark & { generation: number }, { first, firstGeneration }: BaseEnd): boolean {
  if (mark.generation !== firstGeneration) return mark.generation > firstGeneration;
  return mark.position >= first.position;
}

function beforeFirst(chains: readonly Restorable[]): IdkitError {
  return new IdkitError('IDKIT_NOT_FOUND', 'the archive begins after that moment', {
    hints: [describeRanges(chains)],
  });
}

function withinGap(chains: readonly Restorable[], at: number): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `the archive has a gap at ${new Date(at).toISOString()}`, {
    hints: [describeRanges(chains)],
  });
}

function describeRanges(chains: readonly Restorable[]): string {
  const ranges = chains
    .filter(({ bases }) => bases.length > 0)
    .map(({ first, last }) => `${new Date(first).toISOString()} to ${new Date(last).toISOString()}`);
  return ranges.length === 0
    ? 'the archive has no complete base yet'
    : `every moment can be restored from ${ranges.join(', and from ')}`;
}
