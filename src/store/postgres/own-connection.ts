import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { endInTime, mapFault, oneRow } from '../../postgres/index.ts';

/**
 * Runs long work on a connection of its own, while no other store does the same work.
 *
 * @param options `lock`: the advisory lock of the work. `stopping` closes the connection; the work then fails, and the
 *   server ends its statement soon
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
  const stop = () => client.connection.stream.destroy();
  stopping.addEventListener('abort', stop, { once: true });
  try {
    if (stopping.aborted) return undefined;
    const sql = 'SELECT pg_try_advisory_lock($1, $2) AS taken';
    if (!oneRow(await client.query<{ taken: boolean }>(sql, [...lock])).taken) return undefined;
    const result = await work(client);
    // The server notices later that the connection was closed.
    await client.query('SELECT pg_advisory_unlock($1, $2)', [...lock]);
    return result;
  } catch (error) {
    throw mapFault(error, connections.place);
  } finally {
    stopping.removeEventListener('abort', stop);
    await endInTime(client).catch(() => {});
  }
}
