import type { PoolClient, QueryResult } from 'pg';
import { callerSignal } from '../../core/index.ts';
import type { Connections, Lane } from '../../postgres/driver.ts';
import { isConnectionLost, isLostRace, isStalePlan, mapFault } from '../../postgres/index.ts';
import type { Row } from '../schema.ts';
import { WaitingRoom } from '../sql/waiting-room.ts';
import { Batches } from './batches.ts';
import { prepared } from './prepared.ts';

/** Connections that may break under one read. */
const ATTEMPTS = 6;

/**
 * Runs what may be run twice, again where its connection breaks, on another one.
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

/** Ids of one statement at most. */
const LARGEST = 256;

/** Reads rows by id, those of many callers by one statement: a round trip costs more than the row. */
export function openPointReads(connections: Connections, query: string): Batches<string, Row | undefined> {
  return new Batches<string, Row | undefined>({
    largest: LARGEST,
    run: async (ids) => {
      const { rows } = await readAgain(connections, (client) =>
        client.query<Row>(prepared(query, { ids: [...new Set(ids)] })),
      );
      const byId = new Map(rows.map((row) => [row['id'], row]));
      return ids.map((id) => Promise.resolve(byId.get(id)));
    },
  });
}

/**
 * Reads that may take long: lists, searches and counts of administrators. They have connections of their own, whose
 * server ends each statement in time, and wait for one another, so that no login and no token waits for them.
 */
export class AdministrativeReads {
  readonly #connections: Connections;
  readonly #room: WaitingRoom;

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#room = new WaitingRoom(connections.sizes.reads);
  }

  /** @throws IDKIT_UNREACHABLE where too many others wait, or the statement takes too long */
  read(order: { name?: string; text: string; values: unknown[] }): Promise<Row[]> {
    const signal = callerSignal();
    return this.#room.use(async () => {
      const read = (client: PoolClient) => this.#untilGone(client, client.query<Row>(order), signal);
      return (await readAgain(this.#connections, read, 'reads')).rows;
    }, signal);
  }

  /** Ends a statement at the server when its caller goes; the connection is nobody else's until that is done. */
  async #untilGone<T extends QueryResult>(
    client: PoolClient,
    statement: Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (signal === undefined) return statement;
    let ending: Promise<unknown> | undefined;
    const end = () => {
      const pid = this.#connections.serverOf(client)?.pid;
      ending = this.#connections
        .use((other) => other.query('SELECT pg_cancel_backend($1)', [pid]))
        // Its time limit ends it then.
        .catch(() => {});
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    try {
      return await statement;
    } finally {
      signal.removeEventListener('abort', end);
      await ending;
    }
  }
}
