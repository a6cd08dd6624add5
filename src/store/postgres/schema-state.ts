import type { Client } from 'pg';
import { IdkitError, type Random } from '../../core/index.ts';
import { ADVISORY, oneRow } from '../../postgres/index.ts';
import { BACKGROUND_MIGRATIONS } from '../migrations/background.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../migrations/index.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { checkProofs, type MasterKeyState, proofRow } from '../sealing/proofs.ts';

/** Oldest supported major version of the server. */
const OLDEST_SERVER = 13;

/** Timeout in milliseconds for one migration, and for the wait until another store has migrated. */
const MIGRATION_MS = 1_800_000;

type Queryable = Pick<Client, 'query'>;

/**
 * Checks that idkit supports the server's version and the database's encoding.
 *
 * @throws IDKIT_VERSION
 */
export async function checkServer(client: Queryable, place: string): Promise<void> {
  const result = await client.query<{ version: number; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version, encoding } = oneRow(result);
  if (version < OLDEST_SERVER * 10_000)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the server of ${place} is Postgres ${Math.floor(version / 10_000)}, but idkit needs ${OLDEST_SERVER} or newer`,
    );
  if (encoding !== 'UTF8')
    throw new IdkitError('IDKIT_VERSION', `the database at ${place} has the encoding ${encoding}, not UTF8`, {
      hints: ['create it with: createdb --encoding UTF8 --template template0 NAME'],
    });
}

/**
 * Returns the version of the schema, or 0 if the database is empty.
 *
 * @throws IDKIT_VERSION for a schema of another program or of a newer idkit
 */
export async function readSchemaVersion(client: Queryable, place: string): Promise<number> {
  const result = await client.query<{ own: boolean; others: boolean }>(
    `SELECT to_regclass('idkit_schema') IS NOT NULL AS own,
       EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) AS others`,
  );
  const { own, others } = oneRow(result);
  if (!own && others)
    throw new IdkitError('IDKIT_VERSION', `the database at ${place} contains tables of another program`, {
      hints: ['create a separate database for idkit: createdb NAME'],
    });
  if (!own) return 0;
  const version = Number((await client.query('SELECT version FROM idkit_schema')).rows[0]?.version);
  if (version > SCHEMA_VERSION)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the database at ${place} has schema ${version}, which is newer than schema ${SCHEMA_VERSION} of this idkit`,
      { hints: ['use the version of idkit that wrote it, or a newer one'] },
    );
  return version;
}

/**
 * Checks that the given master keys decrypt the database.
 *
 * @throws IDKIT_MASTER_KEY_WRONG
 */
export async function readKeyState(client: Queryable, keyring: Keyring): Promise<MasterKeyState> {
  const { rows } = await client.query<{ name: string; value: string }>('SELECT name, value FROM meta');
  return checkProofs(
    rows.map(({ name, value }) => [name, value] as const),
    keyring,
  );
}

/**
 * Applies the missing migrations, checks the master key, and stores its proof in a new database. All of this is one
 * transaction. Replicas that start in parallel wait for each other, and only the first one migrates.
 *
 * @throws as `readSchemaVersion` and `readKeyState`
 */
export async function migrate(
  client: Queryable,
  place: string,
  keyring: Keyring,
  random: Random,
): Promise<MasterKeyState> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0`);
    await patiently(client, 'SELECT pg_advisory_xact_lock($1, $2)', [...ADVISORY.migrations]);
    const version = await readSchemaVersion(client, place);
    for (const { postgres } of MIGRATIONS.slice(version)) await patiently(client, postgres);
    if (version < SCHEMA_VERSION)
      await client.query('UPDATE idkit_schema SET version = $1', [SCHEMA_VERSION]);
    if (version === 0) await finishBackground(client);
    const state = await readKeyState(client, keyring);
    if (state === 'fresh') {
      const proof = proofRow(keyring, random);
      await client.query('INSERT INTO meta (name, value) VALUES ($1, $2)', [proof.name, proof.value]);
    }
    await client.query('COMMIT');
    return state;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Marks the background migrations of a new database as finished. */
async function finishBackground(client: Queryable): Promise<void> {
  for (const { name, postgresIndexes = [] } of BACKGROUND_MIGRATIONS) {
    for (const { sql } of postgresIndexes) await client.query(sql);
    await client.query(
      `INSERT INTO background_migration (name, position, handled, finished) VALUES ($1, '', 0, 1)`,
      [name],
    );
  }
}

/** Runs a statement with the timeout of a migration. */
async function patiently(client: Queryable, text: string, values: unknown[] = []): Promise<void> {
  const order = { text, values, query_timeout: MIGRATION_MS };
  await client.query(order);
}
