import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY } from '../../postgres/index.ts';
import type { OnBuild } from '../contract/index.ts';
import type { BackgroundIndex } from '../migrations/background.ts';
import { withOwnConnection } from './own-connection.ts';

/** Timeout in milliseconds for building one index. It is long, because the build waits for older transactions. */
const BUILD_MS = 86_400_000;

/**
 * Builds indexes without blocking writes. Replaces an invalid index, which an interrupted build leaves behind.
 *
 * @param options `stopping` cancels the build and closes the connection
 * @returns false if another store is building indexes
 * @throws the catalogue's errors
 */
export async function buildIndexes(
  connections: Connections,
  indexes: readonly BackgroundIndex[],
  { stopping, onBuild }: { stopping: AbortSignal; onBuild: OnBuild },
): Promise<boolean> {
  const built = await withOwnConnection(connections, { lock: ADVISORY.indexes, stopping }, async (client) => {
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    for (const index of indexes) await buildIndex(client, index, onBuild);
    return true;
  });
  return built === true;
}

async function buildIndex(client: Client, { name, sql }: BackgroundIndex, onBuild: OnBuild): Promise<void> {
  const { rows } = await client.query<{ valid: boolean }>(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(format('%I', $1::text))`,
    [name],
  );
  if (rows[0]?.valid === true) return;
  const built = onBuild(name);
  if (rows[0] !== undefined) await patiently(client, `DROP INDEX CONCURRENTLY ${name}`);
  await patiently(client, sql.replace(/^CREATE (UNIQUE )?INDEX /, 'CREATE $1INDEX CONCURRENTLY '));
  built();
}

async function patiently(client: Client, text: string): Promise<void> {
  const order = { text, query_timeout: BUILD_MS };
  await client.query(order);
}
