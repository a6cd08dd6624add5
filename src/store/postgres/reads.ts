import type { PoolClient } from 'pg';
import { callerSignal } from '../../core/index.ts';
import type { Connections, Lane } from '../../postgres/driver.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault } from '../../postgres/index.ts';
import type { PostgresQueries, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import { kindOfSearch, WaitingRoom } from '../sql/waiting-room.ts';
import { Batches } from './batches.ts';
import { type Order, prepared, rowsOf } from './prepared.ts';

/** Maximum number of attempts of one read. */
const ATTEMPTS = 6;

/**
 * Runs a read, and repeats it on another connection if its connection breaks.
 *
 * @throws the catalogue's errors
 */
export async function readAgain<T>(
  connections: Connections,
  work: (client: PoolClient) => Promise<T>,
  lane: Lane = 'requests',
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connections.use(work, { lane });
    } catch (error) {
      const again = isConnectionLost(error) || isStalePlan(error) || isLostRace(error);
      if (!again || attempt >= ATTEMPTS) throw mapFault(error, connections.place);
    }
  }
}

/** Maximum number of keys in one statement. */
const LARGEST = 256;

type FamilyKey = SlotsOf<'family.find'>;

/** Combines the reads of many callers into one statement, because a round trip costs more than reading a row. */
export function openFamilyReads(
  connections: Connections,
): Batches<FamilyKey, RowOf<'family.find'> | undefined> {
  return openReads(connections, {
    nameOf: ({ session_id, id }) => `${session_id} ${id}`,
    order: (keys) =>
      prepared('family.findAll', {
        session_ids: keys.map(({ session_id }) => session_id),
        ids: keys.map(({ id }) => id),
      }),
  });
}

/** As `openFamilyReads`, for rows with an id of their own. */
export function openPointReads<Q extends 'client.findAll' | 'user.findAll'>(
  connections: Connections,
  query: Q,
): Batches<{ id: string }, PostgresQueries[Q]['row'] | undefined> {
  return openReads<{ id: string }, PostgresQueries[Q]['row']>(connections, {
    nameOf: ({ id }) => id,
    order: (keys) => prepared<Q>(query, { ids: keys.map(({ id }) => id) }),
  });
}

/**
 * @param reads `order` returns the query for many keys. `nameOf` returns the same name for a key and for its row, and a
 * different one for any other key
 */
function openReads<K, R extends K>(
  connections: Connections,
  reads: { order(keys: readonly K[]): Order<R>; nameOf(key: K): string },
): Batches<K, R | undefined> {
  return new Batches<K, R | undefined>({
    largest: LARGEST,
    run: async (keys) => {
      const distinct = new Map(keys.map((key) => [reads.nameOf(key), key]));
      const order = reads.order([...distinct.values()]);
      const rows = await readAgain(connections, (client) => rowsOf(client, order));
      const byName = new Map(rows.map((row) => [reads.nameOf(row), row]));
      return keys.map((key) => Promise.resolve(byName.get(reads.nameOf(key))));
    },
  });
}

/**
 * Runs the slow reads of administrators: lists, searches and counts. They use a few separate connections, so that
 * they never delay a login or a token, and wait if all of these are busy. The server limits the time of each statement.
 */
export class AdministrativeReads {
  readonly #connections: Connections;
  readonly room: WaitingRoom;

  constructor(connections: Connections) {
    this.#connections = connections;
    // One connection of the lane remains for cancellations. If the lane has only two, a cancellation can wait for a
    // short read, because one slow read would otherwise block all others.
    this.room = new WaitingRoom({ atOnce: Math.max(2, connections.sizes.reads - 1) });
  }

  /**
   * Runs one read when a connection is free, and returns its rows.
   *
   * @throws IDKIT_UNREACHABLE if too many reads wait or the statement takes too long
   */
  read<R>(order: Order<R>): Promise<R[]> {
    const signal = callerSignal();
    const read = (client: PoolClient) => {
      signal?.throwIfAborted();
      return this.#untilGone(client, rowsOf(client, order), signal);
    };
    const work = () => readAgain(this.#connections, read, 'reads');
    const kind = order.name === undefined ? kindOfSearch(order.text) : { name: order.name };
    return this.room.use(work, { kind, signal });
  }

  /**
   * Cancels the statement on the server if the caller disconnects. The connection stays reserved until the cancellation
   * is done.
   */
  async #untilGone<T>(
    client: PoolClient,
    statement: Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (signal === undefined) return statement;
    let ending: Promise<unknown> | undefined;
    const end = () => {
      const pid = this.#connections.serverOf(client)?.pid;
      ending = this.#connections
        .use((other) => other.query('SELECT pg_cancel_backend($1)', [pid]), { lane: 'reads' })
        // If the cancellation fails, the server's statement timeout ends the read.
        .catch(() => {});
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      return await statement;
    } finally {
      signal.removeEventListener('abort', end);
      await ending;
    }
  }
}
