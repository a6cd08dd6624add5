import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { APPLICATION_ID, MIGRATIONS } from '../../src/store/migrations/index.ts';
import { identifier } from '../../src/store/sqlite/dump/row-text.ts';
import { connectionOf } from './databases.ts';
import type { PostgresServer } from './postgres-server.ts';

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

/**
 * As `makeOlderSqlite`, on Postgres. `to` is the name of an empty database.
 */
export async function makeOlderPostgres(
  server: PostgresServer,
  from: string,
  to: string,
  version: number,
): Promise<void> {
  const older = new Client({ ...connectionOf(server), database: to });
  const newer = new Client({ ...connectionOf(server), database: from });
  await Promise.all([older.connect(), newer.connect()]);
  try {
    await older.query(
      MIGRATIONS.slice(0, version)
        .map(({ postgres }) => postgres)
        .join(''),
    );
    await older.query('UPDATE idkit_schema SET version = $1', [version]);
    await older.query('SET session_replication_role = replica');
    const known = await readColumns(newer);
    for (const [table, columns] of await readColumns(older)) {
      const common = columns.filter((name) => known.get(table)?.includes(name)).join(', ');
      if (CHANGED.has(table) || table === 'idkit_schema' || common === '') continue;
      const { rows } = await newer.query(
        `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} AS t`,
      );
      await older.query(
        `INSERT INTO ${table} (${common}) OVERRIDING SYSTEM VALUE
         SELECT ${common} FROM json_populate_recordset(NULL::${table}, $1::json)`,
        [rows[0].rows],
      );
    }
  } finally {
    await Promise.all([older.end(), newer.end()]);
  }
}

async function readColumns(client: Client): Promise<Map<string, string[]>> {
  const { rows } = await client.query(
    `SELECT table_name AS name, array_agg(column_name::text ORDER BY ordinal_position) AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1`,
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}
