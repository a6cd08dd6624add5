import { setTimeout as sleep } from 'node:timers/promises';
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

/** Timeout in milliseconds for replicas of an older version to stop. A stopping replica finishes its requests. */
const STOPPING_MS = 60_000;
const BETWEEN_LOOKS_MS = 100;

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
 * @param options `isService`: whether the connection holds the service lock
 * @throws as `readSchemaVersion` and `readKeyState`; IDKIT_LOCKED if replicas of an older version must stop but do not
 */
export async function migrate(
  client: Queryable,
  place: string,
  keyring: Keyring,
  random: Random,
  { isService }: { isService: boolean } = { isService: false },
): Promise<MasterKeyState> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0`);
    await patiently(client, 'SELECT pg_advisory_xact_lock($1, $2)', [...ADVISORY.migrations]);
    const version = await readSchemaVersion(client, place);
    const needsStop = MIGRATIONS.slice(version).some((migration) => migration.needsStop);
    if (isService && version > 0 && needsStop) await untilStopped(client, place);
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

/**
 * Waits until no replica of an older version is connected. Replicas of this version wait for the migration, and so for
 * the lock that the caller holds.
 *
 * @throws IDKIT_LOCKED
 */
async function untilStopped(client: Queryable, place: string): Promise<void> {
  const until = performance.now() + STOPPING_MS;
  for (;;) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT coalesce(nullif(application_name, ''), 'process ' || pid) AS name
       FROM pg_locks AS held JOIN pg_stat_activity USING (pid)
       WHERE ${holdsAdvisory('held')} AND held.objid = $2 AND held.granted AND pid <> pg_backend_pid()
         AND NOT EXISTS (SELECT FROM pg_locks AS wanted
           WHERE wanted.pid = held.pid AND ${holdsAdvisory('wanted')} AND wanted.objid = $3 AND NOT wanted.granted)
       ORDER BY 1`,
      [ADVISORY.service[0], ADVISORY.service[1], ADVISORY.migrations[1]],
    );
    if (rows.length === 0) return;
    if (performance.now() > until)
      throw new IdkitError(
        'IDKIT_LOCKED',
        `the database at ${place} is still used by an older version: ${rows.map(({ name }) => name).join(' and ')}`,
        { hints: ['stop every service of the older version, then start this one: docs/operate/install.md'] },
      );
    await sleep(BETWEEN_LOOKS_MS);
  }
}

/** Returns an SQL condition for idkit's advisory locks in this database. $1 is their class. */
function holdsAdvisory(lock: string): string {
  return `${lock}.locktype = 'advisory' AND ${lock}.classid = $1 AND ${lock}.objsubid = 2
    AND ${lock}.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
}

/** Runs a statement with the timeout of a migration. */
async function patiently(client: Queryable, text: string, values: unknown[] = []): Promise<void> {
  const order = { text, values, query_timeout: MIGRATION_MS };
  await client.query(order);
}
