import type { DatabaseSync } from 'node:sqlite';
import { isOfSearchIndex } from '../search-index.ts';
import { estimateRows } from './estimate-rows.ts';
import { writeRows } from './write-rows.ts';

/** The last line of every dump. */
export const END_LINE = '-- idkit dump complete';

/**
 * Tables that a dump contains without rows: unfinished logins and codes, which are needed for minutes only, and the kept
 * counts, which the service counts again after the restore.
 */
const WITHOUT_ROWS: ReadonlySet<string> = new Set([
  'authentication_session',
  'authorization_code',
  'record_count',
  'count_check',
]);

/**
 * Writes a database as plain SQL, which the program `sqlite3` can load. The caller holds the read transaction. Tables
 * and their rows come first, then indexes, triggers and views. So the load runs no trigger and builds each index only
 * once. The search index is left out, because it is derived from the users.
 *
 * @param write must not use the bytes after it has returned
 * @param onRows called with the number of rows that are written, and an estimate of all rows
 */
export function writeDump(
  database: DatabaseSync,
  write: (bytes: Uint8Array) => void,
  onRows: (written: number, all: number) => void = () => {},
): void {
  const text = (sql: string) => write(Buffer.from(sql));
  const schema = database
    .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`)
    .all();
  const own = schema
    .map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }))
    .filter(({ name }) => !name.startsWith('sqlite_') && !isOfSearchIndex(name));
  const tables = own.filter(({ type }) => type === 'table');
  const estimates = estimateRows(
    database,
    tables.map(({ name }) => name),
  );
  const all = tables.reduce((sum, { name }) => sum + (WITHOUT_ROWS.has(name) ? 0 : estimates.get(name)!), 0);
  let written = 0;
  const count = (rows: number) => {
    written += rows;
    onRows(written, all);
  };
  text('PRAGMA foreign_keys=OFF;\nBEGIN;\n');
  for (const { name, sql } of tables) {
    if (/^CREATE\s+VIRTUAL\s/i.test(sql)) throw new Error(`table ${name} is virtual and cannot be dumped`);
    text(`${sql};\n`);
    if (!WITHOUT_ROWS.has(name)) writeRows(database, name, { write, count });
  }
  for (const kind of ['index', 'trigger', 'view'])
    for (const { sql } of own.filter(({ type }) => type === kind)) text(`${sql};\n`);
  for (const pragma of ['application_id', 'user_version'])
    text(`PRAGMA ${pragma}=${database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]};\n`);
  text(`COMMIT;\n${END_LINE}\n`);
}
