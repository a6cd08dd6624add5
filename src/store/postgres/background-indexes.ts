import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY, endInTime, mapFault, oneRow } from '../../postgres/index.ts';
import type { BackgroundIndex } from '../migrations/background.ts';

/** Timeout in milliseconds for building one index. It is long, because the build waits for older transactions. */
const BUILD_MS = 86_400_000;

/**
 * Builds indexes without blocking writes. Replaces an invalid index, which an interrupted build leaves behind.
 *
 * @param stopping closes the connection; the server then finishes or abandons the build
 * @returns false if another store is building indexes
 * @throws the catalogue's errors
 */
export async function buildIndexes(
  connections: Connections,
  indexes: readonly BackgroundIndex[],
  stopping: AbortSignal,
): Promise<boolean> {
  const client = await connections.open();
  // The query that is running reports the loss of the connection.
  client.on('error', () => {});
  const stop = () => client.connection.stream.destroy();
  stopping.addEventListener('abort', stop, { once: true });
  try {
    if (stopping.aborted) return false;
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    const taken = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      ...ADVISORY.indexes,
    ]);
    if (!oneRow(taken).taken) return false;
    for (const index of indexes) await buildIndex(client, index);
    return true;
  } catch (error) {
    throw mapFault(error, connections.place);
  } finally {
    stopping.removeEventListener('abort', stop);
    await endInTime(client).catch(() => {});
  }
}

async function buildIndex(client: Client, { name, sql }: BackgroundIndex): Promise<void> {
  const { rows } = await client.query<{ valid: boolean }>(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(format('%I', $1::text))`,
    [name],
  );
  if (rows[0]?.valid === true) return;
  if (rows[0] !== undefined) await patiently(client, `DROP INDEX CONCURRENTLY ${name}`);
  await patiently(client, sql.replace(/^CREATE (UNIQUE )?INDEX /, 'CREATE $1INDEX CONCURRENTLY '));
}

async function patiently(client: Client, text: string): Promise<void> {
  const order = { text, query_timeout: BUILD_MS };
  await client.query(order);
}
