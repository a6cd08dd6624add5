import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY, mapFault, oneRow } from '../../postgres/index.ts';
import type { CountDrift } from '../contract/index.ts';
import type { PostgresQueries } from '../queries/compiled/types.ts';
import type { DriftQuery } from '../sql/counts.ts';
import { withOwnConnection } from './own-connection.ts';
import { type Order, prepared, rowsOf } from './prepared.ts';

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
const PLAN = ['enable_nestloop = off', 'enable_mergejoin = off', 'jit = off', `work_mem = '32MB'`];
const PLAN_IN_TRANSACTION = PLAN.map((setting) => `SET LOCAL ${setting}`).join('; ');
/** Pause in milliseconds before the next attempt to get the lock of the folds. */
const FOLDING_MS = 50;
/** Number of token families that one statement of a check counts. */
const RANGE = 20_000;
/** A key before all others. */
const FIRST: FamilyKey = { client: '', offline: -1, session: '' };

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
  return withOwnConnection(connections, { lock: ADVISORY.countCheck, stopping }, async (client) => {
    // One process of the server counts, so that the others have the remaining cores. `jit` does not pay off here.
    await client.query(
      `SET statement_timeout = ${CHECK_MS}; SET max_parallel_workers_per_gather = 0; SET jit = off`,
    );
    if (query === 'count.driftOfFamilies') return familyDrift(client, stopping);
    return rowsOf(client, { ...prepared<DriftQuery>(query, {}), query_timeout: CHECK_MS });
  });
}

/** A position in the order of clients and sessions, with the bytes of the ids in hex. */
type FamilyKey = PostgresQueries['count.endOfRange']['row'];
type Amount = PostgresQueries['count.range']['row'];

/**
 * Counts the token families in ranges, and returns the differences from the kept counts. One statement over all of them
 * would be a snapshot that keeps the server from removing old rows for its whole run.
 *
 * Meanwhile, only this connection folds. Each range is counted as of the last fold: the changes that are not folded are
 * subtracted. Each later fold adds its changes of the ranges that were counted before. So when the last range is
 * counted, the sum is that of all token families as of the last fold, and the kept counts are exactly that, too.
 *
 * @param client a connection for this check only, which the caller closes
 * @param ranges `rows`: number of token families in one range. `foldEach`: interval in milliseconds between two folds
 */
export async function familyDrift(
  client: Client,
  stopping: AbortSignal,
  { rows, foldEach }: { rows: number; foldEach: number } = { rows: RANGE, foldEach: PAUSE_MS },
): Promise<readonly CountDrift[]> {
  const ask = <R>(order: Order<R>) => rowsOf(client, { ...order, query_timeout: FOLD_MS + SILENCE_MS });
  await client.query(PLAN.map((setting) => `SET ${setting}`).join('; '));
  // If this process is suspended, another store can fold after a minute. Older servers lack this setting.
  await client.query(
    `SELECT set_config(name, '60000', false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
  );
  const lock = [...ADVISORY.countFold];
  const take = 'SELECT pg_try_advisory_lock($1, $2) AS taken';
  while (!oneRow(await client.query<{ taken: boolean }>(take, lock)).taken)
    await sleep(FOLDING_MS, undefined, { signal: stopping });
  const counted = new Map<string, Amount>();
  const add = (amounts: readonly Amount[], sign = 1) => {
    for (const { kind, owner, amount } of amounts) {
      const name = `${kind} ${owner}`;
      const sum = (counted.get(name)?.amount ?? 0) + sign * amount;
      counted.set(name, { kind, owner, amount: sum });
    }
  };
  const fold = async (upTo: FamilyKey) => {
    for (let limit = CHANGES.least; ; limit = grown(limit)) {
      const { folded } = oneRow({ rows: await ask(prepared('count.fold', { limit })) });
      const amounts = await ask(prepared('count.foldSessionsUpTo', { limit, ...argumentsOf('last', upTo) }));
      const isFull = amounts.some(({ kind, amount }) => kind === 'folded' && amount === limit);
      add(amounts.filter(({ kind }) => kind !== 'folded'));
      if (folded < limit && !isFull) return;
    }
  };
  await fold(FIRST);
  let foldedAt = performance.now();
  for (let after = FIRST; ; ) {
    const bounds = argumentsOf('after', after);
    const [last] = await ask(prepared('count.endOfRange', { ...bounds, rows }));
    if (last === undefined) {
      add(await ask(prepared('count.lastRange', bounds)));
      break;
    }
    add(await ask(prepared('count.range', { ...bounds, ...argumentsOf('last', last) })));
    after = last;
    if (performance.now() < foldedAt + foldEach) continue;
    await fold(after);
    foldedAt = performance.now();
  }
  add(await ask(prepared('count.keptFamilies', {})), -1);
  await client.query('SELECT pg_advisory_unlock($1, $2)', lock);
  return [...counted.values()].flatMap(({ kind, owner, amount }) =>
    amount === 0 ? [] : [{ kind, owner, drift: amount }],
  );
}

function argumentsOf<N extends 'after' | 'last'>(name: N, { client, offline, session }: FamilyKey) {
  return { [`${name}_client`]: client, [`${name}_offline`]: offline, [`${name}_session`]: session } as {
    [K in `${N}_client` | `${N}_session`]: string;
  } & { [K in `${N}_offline`]: number };
}

function grown(limit: number): number {
  return Math.min(CHANGES.most, CHANGES.growth * limit);
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
      while (!this.#closed && (await this.#foldSome(limit))) limit = grown(limit);
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
      client.query(`BEGIN; SET LOCAL statement_timeout = ${FOLD_MS}; ${PLAN_IN_TRANSACTION}`).catch(() => {});
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
