import type { TestContext } from 'node:test';
import { Client, type ClientConfig } from 'pg';
import type { Clock } from '../../src/core/index.ts';
import { Secret } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openStore, type StoreOptions } from '../../src/store/open.ts';
import { newMasterKey } from './files.ts';
import type { PostgresServer } from './postgres-server.ts';

/** The master key of all databases in a test file. */
export const masterKey = newMasterKey();

let made = 0;

/** Creates an empty database on a server. `url` does not contain the password. */
export async function makeDatabase(server: PostgresServer): Promise<{ name: string; url: string }> {
  const name = `idkit_${++made}`;
  await runSql(server, `CREATE DATABASE ${name}`);
  return { name, url: `postgres://${server.user}@127.0.0.1:${server.port}/${name}` };
}

/** Returns the connection settings of the superuser. */
export function connectionOf({ port, user, password }: PostgresServer): ClientConfig {
  return { host: '127.0.0.1', port, user, password, ssl: false };
}

/** Runs statements as the superuser and returns the rows of the last one. */
export async function runSql(
  server: PostgresServer,
  sql: string,
  database = 'postgres',
): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...connectionOf(server), database });
  await client.connect();
  try {
    const result = await client.query(sql);
    return Array.isArray(result) ? (result.at(-1) as { rows: Record<string, unknown>[] }).rows : result.rows;
  } finally {
    await client.end();
  }
}

/** Opens a store on a database. It closes when the test ends. */
export async function openOn(
  t: TestContext,
  server: PostgresServer,
  url: string,
  options: { clock?: Clock } & Partial<StoreOptions> = {},
): Promise<Store> {
  const store = await openStore({
    postgres: { url, password: new Secret(server.password) },
    masterKey,
    ...options,
  });
  t.after(() => store.close());
  return store;
}
