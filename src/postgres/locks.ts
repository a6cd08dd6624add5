import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { IdkitError } from '../core/index.ts';
import type { Connections } from './connections.ts';
import { mapFault, oneRow } from './faults.ts';
import { endInTime } from './primary.ts';

/**
 * idkit's advisory locks. The numbers are the two arguments of `pg_advisory_lock`: the class (`idkt` in ASCII) and the
 * object.
 */
export const ADVISORY = {
  migrations: [0x69646b74, 1],
  service: [0x69646b74, 2],
  sweep: [0x69646b74, 3],
  indexes: [0x69646b74, 4],
  countFold: [0x69646b74, 5],
  countCheck: [0x69646b74, 6],
  schedule: [0x69646b74, 7],
  archive: [0x69646b74, 8],
} as const;

/**
 * The service lock of a database. Each connection of each service holds it in shared mode. While a process holds it in
 * exclusive mode, no service is connected and none can connect.
 */
export const SERVICE_LOCK: readonly [number, number] = ADVISORY.service;

/**
 * The first line in the comment of a database that a restore has put in place but has not locked yet. Services do not
 * connect to such a database.
 */
export const CLOSED_COMMENT = 'idkit closed';

/** Time in milliseconds for the server to notice that connections were closed. */
const SETTLING_MS = 1_000;
const BETWEEN_TRIES_MS = 50;
/** Pause in milliseconds between two checks of the connection. */
const BETWEEN_BEATS_MS = 1_000;
/** Timeout in milliseconds of a check. */
const SILENT_MS = 5_000;

/** A lock that lives as long as its connection. */
export interface PostgresLock {
  /** False if the connection was lost. Another process may then hold the lock. */
  isHeld(): boolean;
  /** Idempotent. */
  release(): Promise<void>;
}

/** The two arguments of an advisory lock. */
export type AdvisoryLock = readonly [number, number];

/** Returns an SQL expression that takes the lock if it is free. Its value is whether it took the lock. */
export function takeSql(mode: 'shared' | 'exclusive', lock: AdvisoryLock = SERVICE_LOCK): string {
  const name = mode === 'shared' ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  return `${name}(${lock.join(', ')})`;
}

/**
 * Rejects a caller because other processes hold the lock.
 *
 * @throws IDKIT_LOCKED with the names of the holders
 */
export async function refuse(
  client: { query: Client['query'] },
  place: string,
  [lockClass, lockObject]: AdvisoryLock = SERVICE_LOCK,
): Promise<never> {
  const { rows } = await client.query<{ name: string; pids: number }>(`
    SELECT coalesce(nullif(application_name, ''), 'process ' || pid) AS name, count(*) AS pids
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND classid = ${lockClass} AND objid = ${lockObject} AND objsubid = 2
      AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
    GROUP BY 1 ORDER BY 1`);
  const holders = rows.map(({ name }) => name);
  const who = holders.length === 0 ? 'another process' : holders.join(' and by ');
  throw new IdkitError('IDKIT_LOCKED', `the database at ${place} is held by ${who}`, {
    hints: ['wait until that process ends, or end it, and try again'],
  });
}

/** Takes the lock on a separate connection. Releasing the lock closes all `connections`. See `lockPostgres`. */
export async function holdLock(
  connections: Connections,
  mode: 'shared' | 'exclusive',
  lock: AdvisoryLock = SERVICE_LOCK,
): Promise<PostgresLock> {
  const client = await connections.open();
  let held = true;
  client.on('end', () => {
    held = false;
  });
  try {
    const until = performance.now() + SETTLING_MS;
    while (!(await isTaken(client, mode, lock))) {
      if (performance.now() > until) await refuse(client, connections.place, lock);
      await sleep(BETWEEN_TRIES_MS);
    }
  } catch (error) {
    client.end().catch(() => {});
    await connections.close();
    throw mapFault(error, connections.place);
  }
  const beat = keepAsking(client);
  let released: Promise<void> | undefined;
  return {
    isHeld: () => held,
    release: () => {
      clearInterval(beat);
      released ??= endInTime(client).then(() => connections.close());
      return released;
    },
  };
}

/**
 * Checks that the server still responds, because a frozen or unreachable server does not close the connection. If it
 * does not respond, the connection is closed and the lock counts as lost.
 */
function keepAsking(client: Client): NodeJS.Timeout {
  let isAnswered = true;
  return setInterval(() => {
    if (!isAnswered) return;
    isAnswered = false;
    const order = { text: 'SELECT 1', query_timeout: SILENT_MS };
    client.query(order).then(
      () => {
        isAnswered = true;
      },
      () => client.connection.stream.destroy(),
    );
  }, BETWEEN_BEATS_MS).unref();
}

async function isTaken(client: Client, mode: 'shared' | 'exclusive', lock: AdvisoryLock): Promise<boolean> {
  const sql = `SELECT ${takeSql(mode, lock)} AS admitted`;
  return oneRow(await client.query<{ admitted: boolean }>(sql)).admitted;
}
