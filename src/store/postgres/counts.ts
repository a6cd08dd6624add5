import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY, endInTime, mapFault, oneRow } from '../../postgres/index.ts';
import type { CountDrift } from '../contract/index.ts';
import type { DriftQuery } from '../sql/counts.ts';
import { prepared, rowsOf } from './prepared.ts';

/** Timeout in milliseconds for counting all records of a check. */
const CHECK_MS = 3_600_000;

/** Pause in milliseconds between two folds. It limits the number of changes that a read adds up. */
const PAUSE_MS = 1_000;
/** Number of changes in one transaction. It grows while more are left, because each transaction reads all of them. */
const CHANGES = { least: 10_000, most: 200_000, growth: 4 };
/** Timeout in milliseconds of one statement, and of the server's report about it. */
const FOLD_MS = 60_000;
const SILENCE_MS = 5_000;
/** The server has no statistics about the changes. These settings make it use hashes, without compiling the plan. */
const PLAN = `SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off;
  SET LOCAL work_mem = '32MB'`;

/**
 * Counts the records of a check on a separate connection, and returns the differences from the kept counts.
 *
 * @param stopping closes the connection
 * @returns undefined if another store is counting
 * @throws the catalogue's errors
 */
export async function readDrift(
  connections: Connections,
  query: DriftQuery,
  stopping: AbortSignal,
): Promise<readonly CountDrift[] | undefined> {
  const client = await connections.open();
  // The query that is running reports the loss of the connection.
  client.on('error', () => {});
  const stop = () => client.connection.stream.destroy();
  stopping.addEventListener('abort', stop, { once: true });
  try {
    if (stopping.aborted) return undefined;
    // One process of the server counts, so that the others have the remaining cores. `jit` does not pay off here.
    await client.query(
      `SET statement_timeout = ${CHECK_MS}; SET max_parallel_workers_per_gather = 0; SET jit = off`,
    );
    const sql = 'SELECT pg_try_advisory_lock($1, $2) AS taken';
    const { taken } = oneRow(await client.query<{ taken: boolean }>(sql, [...ADVISORY.countCheck]));
    if (!taken) return undefined;
    const rows = await rowsOf(client, { ...prepared<DriftQuery>(query, {}), query_timeout: CHECK_MS });
    // The server notices later that the connection was closed.
    await client.query('SELECT pg_advisory_unlock($1, $2)', [...ADVISORY.countCheck]);
    return rows;
  } catch (error) {
    throw mapFault(error, connections.place);
  } finally {
    stopping.removeEventListener('abort', stop);
    await endInTime(client).catch(() => {});
  }
}

/**
 * Adds the changes of counts to the kept counts, one store at a time. Readers add the remaining changes themselves, so
 * this only keeps their number small.
 */
export class CountFolds {
  readonly #connections: Connections;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#plan();
  }

  /**
   * Adds all changes that are stored now. Does nothing while another store does the same.
   *
   * @throws the catalogue's errors
   */
  async fold(): Promise<void> {
    let limit = CHANGES.least;
    try {
      while (!this.#closed && (await this.#foldSome(limit)))
        limit = Math.min(CHANGES.most, CHANGES.growth * limit);
    } catch (error) {
      throw mapFault(error, this.#connections.place);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #plan(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      // The sweep repeats the fold and reports its errors.
      this.#running = this.fold().then(
        () => this.#plan(),
        () => this.#plan(),
      );
    }, PAUSE_MS).unref();
  }

  /** Runs one transaction. Returns true if more changes may be left. */
  #foldSome(limit: number): Promise<boolean> {
    return this.#connections.use(async (client) => {
      client.query(`BEGIN; SET LOCAL statement_timeout = ${FOLD_MS}; ${PLAN}`).catch(() => {});
      try {
        // The lock is taken by an earlier statement than the fold, whose snapshot then contains the previous fold.
        const sql = 'SELECT pg_try_advisory_xact_lock($1, $2) AS taken';
        const { taken } = oneRow(await client.query<{ taken: boolean }>(sql, [...ADVISORY.countFold]));
        let more = false;
        if (taken)
          for (const query of ['count.fold', 'count.foldSessions'] as const) {
            const order = { ...prepared(query, { limit }), query_timeout: FOLD_MS + SILENCE_MS };
            const { folded } = oneRow({ rows: await rowsOf(client, order) });
            more ||= folded === limit;
          }
        return more;
      } finally {
        await client.query('COMMIT');
      }
    });
  }
}
