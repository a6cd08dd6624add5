import { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID, MIGRATIONS } from '../../src/store/migrations/index.ts';
import { identifier } from '../../src/store/sqlite/dump/row-text.ts';

/** Tables whose rows have another form in older schemas. */
const CHANGED = new Set(['user_session', 'token_family']);

/**
 * Creates a SQLite database with an older schema, with the realms, clients, users and other rows of a database of the
 * current schema, but without sessions.
 *
 * @param from the file of the current database, which no store has open
 */
export function makeOlderSqlite(from: string, to: string, version: number): void {
  const database = new DatabaseSync(to, { enableForeignKeyConstraints: false });
  for (const { sqlite } of MIGRATIONS.slice(0, version)) database.exec(sqlite);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
  database.prepare('ATTACH ? AS newer').run(from);
  for (const table of tablesOf(database, 'main')) {
    if (CHANGED.has(table) || !tablesOf(database, 'newer').includes(table)) continue;
    const known = new Set(columnsOf(database, 'newer', table));
    const columns = columnsOf(database, 'main', table).filter((name) => known.has(name));
    const list = columns.map(identifier).join(', ');
    database.exec(`INSERT INTO main.${table} (${list}) SELECT ${list} FROM newer.${table}`);
  }
  database.exec('DETACH newer');
  database.close();
}

function tablesOf(database: DatabaseSync, schema: string): string[] {
  return database
    .prepare(`SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table'`)
    .all()
    .map(({ name }) => String(name));
}

function columnsOf(database: DatabaseSync, schema: string, table: string): string[] {
  return database
    .prepare('SELECT name FROM pragma_table_info(?, ?)')
    .all(table, schema)
    .map(({ name }) => String(name));
}
