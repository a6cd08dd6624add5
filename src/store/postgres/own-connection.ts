import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { endInTime, mapFault, oneRow } from '../../postgres/index.ts';

/** Timeout in milliseconds for cancelling a statement on the server. */
const CANCEL_MS = 2_000;

/**
 * Runs long work on a connection of its own, while no other store does the same work.
 *
 * @param options `lock`: the advisory lock of the work. `stopping` cancels the statement on the server, which would not
 *   notice a closed connection while the statement waits, and closes the connection. The work then fails
 * @returns undefined if another store has the lock, or the store is stopping
 * @throws the catalogue's errors
 */
export async function withOwnConnection<T>(
  connections: Connections,
  { lock, stopping }: { lock: readonly [number, number]; stopping: AbortSignal },
  work: (client: Client) => Promise<T>,
): Promise<T | undefined> {
  const client = await connections.open();
  // The query that is running reports the loss of the connection.
  client.on('error', () => {});
  let pid: number | undefined;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped = cancel(connections, pid).finally(() => client.connection.stream.destroy());
  };
  stopping.addEventListener('abort', stop, { once: true });
  try {
    if (stopping.aborted) return undefined;
    const sql = 'SELECT pg_try_advisory_lock($1, $2) AS taken, pg_backend_pid() AS pid';
    const locked = oneRow(await client.query<{ taken: boolean; pid: number }>(sql, [...lock]));
    if (!locked.taken) return undefined;
    pid = locked.pid;
    const result = await work(client);
    // The server notices later that the connection was closed.
    await client.query('SELECT pg_advisory_unlock($1, $2)', [...lock]);
    return result;
  } catch (error) {
    throw mapFault(error, connections.place);
  } finally {
    stopping.removeEventListener('abort', stop);
    await stopped;
    await endInTime(client).catch(() => {});
  }
}

/** Cancels the statement of a connection. Does nothing if no other connection is available in time. */
async function cancel(connections: Connections, pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  const order = { text: 'SELECT pg_cancel_backend($1)', values: [pid], query_timeout: CANCEL_MS };
  const cancelled = connections.use((other) => other.query(order)).catch(() => {});
  await Promise.race([cancelled, sleep(CANCEL_MS, undefined, { ref: false })]);
}
