import type { DatabaseSync } from 'node:sqlite';
import { IdkitError } from '../../core/index.ts';
import { BACKGROUND_MIGRATIONS } from '../migrations/background.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION } from '../migrations/index.ts';
import { createSearchIndex } from './search-index.ts';
import { Statements } from './statements.ts';

/** Configures a connection for writing and applies the missing migrations, each in its own transaction. */
export function prepareForWriting(database: DatabaseSync): void {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA cache_size = -4000;
    PRAGMA temp_store = MEMORY;
  `);
  migrate(database);
  createSearchIndex(database);
}

/**
 * Migrates a database to the newest version of the schema, or to `to`.
 *
 * @throws IDKIT_VERSION if the schema is newer than this program
 */
export function migrate(database: DatabaseSync, to = SCHEMA_VERSION): void {
  const version = schemaVersion(database);
  if (version > SCHEMA_VERSION) throw newer(version);
  for (const [index, { sqlite }] of MIGRATIONS.slice(version, to).entries()) {
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(sqlite);
      const now = version + index + 1;
      if (version === 0 && now === SCHEMA_VERSION) finishBackground(database);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${now}`);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Marks the background migrations of a new database as finished. */
function finishBackground(database: DatabaseSync): void {
  const insert = database.prepare(
    `INSERT INTO background_migration (name, position, handled, finished) VALUES (?, '', 0, 1)`,
  );
  for (const { name } of BACKGROUND_MIGRATIONS) insert.run(name);
}

/** `PRAGMA user_version`. */
export function schemaVersion(database: DatabaseSync): number {
  return readNumber(database, 'PRAGMA user_version');
}

/**
 * Checks that the database is empty, or that this program can open it.
 *
 * @throws IDKIT_VERSION for a database of another program or of a newer idkit
 */
export function checkKind(database: DatabaseSync, file: string): void {
  const version = schemaVersion(database);
  const application = readNumber(database, 'PRAGMA application_id');
  const tables = readNumber(database, 'SELECT count(*) FROM sqlite_schema');
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
  return new IdkitError('IDKIT_VERSION', `${what} is a database of another program`);
}

function newer(version: number, file = 'the database'): IdkitError {
  return new IdkitError(
    'IDKIT_VERSION',
    `${file} has schema ${version}, which is newer than schema ${SCHEMA_VERSION} of this idkit`,
    { hints: ['use the version of idkit that wrote it, or a newer one'] },
  );
}

/** Returns the size of the database in bytes. */
export function databaseBytes(database: DatabaseSync): number {
  return readNumber(database, 'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()');
}

/** The contents of a database, read in one snapshot. */
export interface DatabaseSummary {
  /** The version of SQLite. */
  version: string;
  schemaVersion: number;
  databaseBytes: number;
  /** The counts of users exclude service accounts. */
  realms: readonly { realm: string; users: number }[];
}

/** Reads the summary in the caller's transaction. */
export function summarize(database: DatabaseSync): DatabaseSummary {
  const version = database.prepare('SELECT sqlite_version() AS version').get()?.['version'];
  const schema = schemaVersion(database);
  return {
    version: String(version),
    schemaVersion: schema,
    databaseBytes: databaseBytes(database),
    realms: schema === 0 ? [] : new Statements(database).all('realm.userCounts', {}),
  };
}

/** Returns the only value of a statement's only row. */
function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
