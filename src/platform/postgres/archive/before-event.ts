import type { BaseEnd } from '../../../archive/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { RecoveredCluster, RecoveryTarget } from '../../../pgtools/index.ts';
import { chooseBase, chooseChain, type RestorableChain } from './moments.ts';

/** The row of an administrator's event. */
export interface FoundEvent {
  /** Unix time in milliseconds that the service wrote into the event. Its clock may differ from the database's. */
  time: number;
  /** The id of the transaction that wrote the row. */
  transaction: string;
}

/** A base from which the moment before an event may be reached. */
export interface Candidate {
  chain: RestorableChain;
  base: BaseEnd;
}

/** What a search for an event needs. */
export interface EventSearch {
  chains: readonly RestorableChain[];
  recover(chain: RestorableChain, base: BaseEnd, to: RecoveryTarget): Promise<RecoveredCluster>;
  /** Finds the event in a recovered cluster. */
  find(cluster: RecoveredCluster): Promise<FoundEvent | undefined>;
}

/** How far in milliseconds the clock of a service may differ from the database's. */
const CLOCKS_DIFFER_MS = 2 * 3600 * 1000;
/** A transaction that writes an event ends within this time in milliseconds. */
const LONGEST_WRITE_MS = 60_000;

/**
 * Finds the transaction that wrote an event, in the newest moment of the archive. The event's own time does not decide:
 * the transaction began before it and was committed after it.
 *
 * @throws IDKIT_NOT_FOUND if the archive does not contain the event, or begins after it
 */
export async function findBeforeEvent(
  event: string,
  search: EventSearch,
): Promise<FoundEvent & { candidates: readonly Candidate[] }> {
  const { chains, recover } = search;
  const newest = chains.at(-1);
  if (newest === undefined) throw new IdkitError('IDKIT_NOT_FOUND', 'the archive has no complete base yet');
  const found = await look(await recover(newest, newest.bases.at(-1)!, { kind: 'newest' }), search);
  if (found === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the newest moment of the archive has no event ${event}`, {
      hints: ['idkit admin event list admin --realm REALM prints the ids'],
    });
  const candidates = basesBefore(found, chains);
  if (candidates.length === 0)
    throw new IdkitError('IDKIT_NOT_FOUND', 'the archive begins after that moment', {
      hints: [`the event is of ${new Date(found.time).toISOString()}`],
    });
  return { ...found, candidates };
}

/**
 * Recovers the moment before the transaction that wrote an event.
 *
 * @throws IDKIT_NOT_FOUND if no base of the archive leads there
 */
export async function recoverBefore(
  { event, ...found }: FoundEvent & { event: string },
  search: EventSearch,
): Promise<RecoveredCluster> {
  const cluster = await recoverBeforeTransaction(found, search);
  if (cluster !== undefined && (await isBefore(cluster, search))) return cluster;
  // A restore since then loaded the row in a transaction of its own. The first one wrote it soon after the event's time.
  const time = found.time + LONGEST_WRITE_MS;
  const chain = chooseChain(search.chains, time);
  const after = await search.recover(chain, chooseBase(chain, time), { kind: 'time', time: time * 1000 });
  const first = await look(after, search);
  const before =
    first === undefined || first.transaction === found.transaction
      ? undefined
      : await recoverBeforeTransaction(first, search);
  if (before !== undefined && (await isBefore(before, search))) return before;
  throw new IdkitError(
    'IDKIT_NOT_FOUND',
    `the archive does not contain the moment before the event ${event}`,
    {
      hints: [`the event is of ${new Date(found.time).toISOString()}; --at restores a time`],
    },
  );
}

/** Returns the bases from which an event may be reached, the newest first. */
function basesBefore({ time }: FoundEvent, chains: readonly RestorableChain[]): readonly Candidate[] {
  return chains
    .flatMap((chain) => chain.bases.map((base) => ({ chain, base })))
    .filter(({ base }) => base.first.at <= time + CLOCKS_DIFFER_MS)
    .toReversed();
}

/** Tries the bases before an event. A base after the transaction does not lead to it. */
async function recoverBeforeTransaction(
  event: FoundEvent,
  { chains, recover }: EventSearch,
): Promise<RecoveredCluster | undefined> {
  for (const { chain, base } of basesBefore(event, chains)) {
    try {
      return await recover(chain, base, { kind: 'before transaction', id: event.transaction });
    } catch (error) {
      if (
        !(error instanceof IdkitError) ||
        !/recovery ended before configured recovery target/.test(error.message)
      )
        throw error;
    }
    // Far before the event, an older base would only make the search longer.
    if (base.first.at <= event.time - CLOCKS_DIFFER_MS) break;
  }
  return undefined;
}

async function look(cluster: RecoveredCluster, { find }: EventSearch): Promise<FoundEvent | undefined> {
  return find(cluster).finally(() => cluster.close());
}

/** Returns whether the cluster lacks the event. Closes it if not. */
async function isBefore(cluster: RecoveredCluster, { find }: EventSearch): Promise<boolean> {
  try {
    if ((await find(cluster)) === undefined) return true;
  } catch (error) {
    await cluster.close();
    throw error;
  }
  await cluster.close();
  return false;
}
