import type { PoolClient, QueryResult } from 'pg';
import { callerSignal } from '../../core/index.ts';
import type { Row } from '../rows.ts';
import { WaitingRoom } from '../waiting-room.ts';
import type { Connections } from './connections.ts';
import { readAgain } from './read-again.ts';

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
