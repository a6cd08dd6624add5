import type { BaseEnd } from '../../../archive/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { RecoveredCluster, RecoveryTarget } from '../../../pgtools/index.ts';
import type { RestorableChain } from './moments.ts';

/** The row of an administrator's event. */
export interface FoundEvent {
  /** Unix time in milliseconds that the service wrote into the event. Its clock may differ from the database's. */
  time: number;
  /** The id of the transaction that wrote the row. */
  transaction: string;
}

/** How far in milliseconds the clock of a service may differ from the database's. */
const CLOCKS_DIFFER_MS = 2 * 3600 * 1000;
/** A transaction that writes an event ends within this time in milliseconds. */
const LONGEST_WRITE_MS = 60_000;

/**
 * Recovers the moment before the transaction that wrote an event. The event's own time does not decide: the transaction
 * began before it and was committed after it.
 *
 * @throws IDKIT_NOT_FOUND if the archive does not contain the event, or begins after it
 */
export async function recoverBefore(
  event: string,
  archive: {
    chains: readonly RestorableChain[];
    recover(chain: RestorableChain, base: BaseEnd, to: RecoveryTarget): Promise<RecoveredCluster>;
    /** Recovers a time in Unix microseconds. */
    recoverTime(time: number): Promise<RecoveredCluster>;
    find(cluster: RecoveredCluster): Promise<FoundEvent | undefined>;
  },
): Promise<RecoveredCluster> {
  const { chains, find } = archive;
  const newest = chains.at(-1);
  if (newest === undefined) throw new IdkitError('IDKIT_NOT_FOUND', 'the archive has no complete base yet');
  const look = async (cluster: RecoveredCluster) => find(cluster).finally(() => cluster.close());
  const found = await look(await archive.recoverTime(newest.last * 1000));
  if (found === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the newest moment of the archive has no event ${event}`, {
      hints: ['idkit admin event list admin --realm REALM prints the ids'],
    });
  const cluster = await recoverBeforeTransaction(found, archive);
  if (cluster !== undefined && (await isBefore(cluster, find))) return cluster;
  // A restore since then loaded the row in a transaction of its own. The first one wrote it soon after the event's time.
  const first = await look(await archive.recoverTime((found.time + LONGEST_WRITE_MS) * 1000));
  const before =
    first === undefined || first.transaction === found.transaction
      ? undefined
      : await recoverBeforeTransaction(first, archive);
  if (before !== undefined && (await isBefore(before, find))) return before;
  throw new IdkitError(
    'IDKIT_NOT_FOUND',
    `the archive does not contain the moment before the event ${event}`,
    {
      hints: [`the event is of ${new Date(found.time).toISOString()}; --at restores a time`],
    },
  );
}

/** Tries the bases before an event, the newest first. A base after the transaction does not lead to it. */
async function recoverBeforeTransaction(
  { time, transaction: id }: FoundEvent,
  { chains, recover }: Pick<Parameters<typeof recoverBefore>[1], 'chains' | 'recover'>,
): Promise<RecoveredCluster | undefined> {
  const candidates = chains
    .flatMap((chain) => chain.bases.map((base) => ({ chain, base })))
    .filter(({ base }) => base.first.at <= time + CLOCKS_DIFFER_MS)
    .toReversed();
  for (const { chain, base } of candidates) {
    try {
      return await recover(chain, base, { kind: 'before transaction', id });
    } catch (error) {
      if (
        !(error instanceof IdkitError) ||
        !/recovery ended before configured recovery target/.test(error.message)
      )
        throw error;
    }
    // Far before the event, an older base would only make the search longer.
    if (base.first.at <= time - CLOCKS_DIFFER_MS) break;
  }
  return undefined;
}

/** Closes the cluster if it contains the event. */
async function isBefore(
  cluster: RecoveredCluster,
  find: (cluster: RecoveredCluster) => Promise<FoundEvent | undefined>,
): Promise<boolean> {
  try {
    if ((await find(cluster)) === undefined) return true;
  } catch (error) {
    await cluster.close();
    throw error;
  }
  await cluster.close();
  return false;
}
