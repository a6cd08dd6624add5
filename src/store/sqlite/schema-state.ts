import type { DatabaseSync } from 'node:sqlite';
import { IdkitError } from '../../core/index.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from '../migrations/index.ts';
import { COMPILED_QUERIES } from '../queries/compiled/sqlite.ts';

/** Settings of a writing connection, then all migrations that the file lacks, each in its own transaction. */
export function prepareForWriting(database: DatabaseSync): void {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA cache_size = -4000;
    PRAGMA temp_store = MEMORY;
  `);
  migrate(database);
}

/**
 * Lifts a database to the newest version of the schema, or an older one.
 *
 * @throws IDKIT_VERSION where the schema is newer than this program
 */
export function migrate(database: DatabaseSync, to = SCHEMA_VERSION): void {
  const version = schemaVersion(database);
  if (version > SCHEMA_VERSION) throw newer(version);
  for (let next = version; next < to; next++) {
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(MIGRATIONS[next]!.sqlite);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${next + 1}`);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** `PRAGMA user_version`. */
export function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()!['user_version']);
}

/** @throws IDKIT_VERSION for a database of another program or of a newer idkit */
export function checkKind(database: DatabaseSync, file: string): void {
  const version = schemaVersion(database);
  const application = Number(database.prepare('PRAGMA application_id').get()!['application_id']);
  const tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!['n']);
  if (tables === 0 && version === 0) return;
  if (application !== APPLICATION_ID) throw foreign(file);
  checkVersion(version, file);
}

/** @throws IDKIT_VERSION for a schema of another program or of a newer idkit */
export function checkVersion(version: number, what: string): void {
  if (version <= 0) throw foreign(what);
  if (version > SCHEMA_VERSION) throw newer(version, what);
}

function foreign(what: string): IdkitError {
  return new IdkitError('IDKIT_VERSION', `${what} is the database of another program`);
}

function newer(version: number, file = 'the database'): IdkitError {
  return new IdkitError(
    'IDKIT_VERSION',
    `${file} has schema ${version}, newer than this idkit's ${SCHEMA_VERSION}`,
    { hints: ['use the idkit that wrote it, or a newer one'] },
  );
}

/** What a database holds, read in one snapshot. */
export interface DatabaseSummary {
  /** SQLite's own version. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** User counts without service accounts. */
  realms: readonly { realm: string; users: number }[];
}

/** The caller holds a transaction where the answer must be of one moment. */
export function summarize(database: DatabaseSync): DatabaseSummary {
  const sizes = database
    .prepare(
      'SELECT sqlite_version() AS version, page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    )
    .get()!;
  const schema = schemaVersion(database);
  const realms = schema === 0 ? [] : database.prepare(COMPILED_QUERIES['realm.userCounts']!.sql).all();
  return {
    version: String(sizes['version']),
    schemaVersion: schema,
    databaseBytes: Number(sizes['bytes']),
    realms: realms.map((row) => ({ realm: String(row['realm']), users: Number(row['users']) })),
  };
}
