import type { DatabaseSync } from 'node:sqlite';
import { identifier } from './row-text.ts';

/** Maximum number of rows of a table that are counted. A table with more rows is estimated. */
export const COUNTED_ROWS = 100_000;

/** The kept counts that add up to the rows of a table. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  account: ['users'],
  user_session: ['sessions', 'offlineSessions'],
  token_family: ['families'],
};

/**
 * Estimates the number of rows of each table, for the progress of a dump. Reads few pages of a large table, because
 * counting it would read it as a whole: SQLite stores no number of rows. Uses the kept counts, the first and last number of
 * tables with numbered rows, and for all others the users, because such tables grow with them.
 */
export function estimateRows(database: DatabaseSync, tables: readonly string[]): ReadonlyMap<string, number> {
  const kept = tables.includes('record_count') ? readKept(database) : new Map<string, number>();
  const numbered = new Set(
    database
      .prepare(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr = 0`)
      .all()
      .map(({ name }) => String(name)),
  );
  const users = kept.get('users') ?? 0;
  return new Map(
    tables.map((table) => {
      const counts = KEPT[table]?.map((kind) => kept.get(kind));
      if (counts?.every((count) => count !== undefined))
        return [table, counts.reduce((sum, count) => sum + count, 0)];
      const span = numbered.has(table) ? readSpan(database, table) : undefined;
      if (span !== undefined) return [table, span];
      const counted = countFirst(database, table);
      return [table, counted < COUNTED_ROWS ? counted : Math.max(counted, users)];
    }),
  );
}

function readKept(database: DatabaseSync): ReadonlyMap<string, number> {
  const rows = database.prepare('SELECT kind, sum(amount) AS amount FROM record_count GROUP BY kind').all();
  return new Map(rows.map(({ kind, amount }) => [String(kind), Number(amount)]));
}

/** Returns how many rows there are between the first and the last one. Undefined if the table has no readable numbers. */
function readSpan(database: DatabaseSync, table: string): number | undefined {
  const name = identifier(table);
  // SQLite reads the whole table for a query of min and max together. Numbers have 64 bits, so SQL subtracts them.
  const row = database
    .prepare(
      `SELECT CASE typeof(first) WHEN 'integer' THEN CAST(last AS REAL) - first + 1 WHEN 'null' THEN 0 END AS span
        FROM (SELECT (SELECT min(rowid) FROM ${name}) AS first, (SELECT max(rowid) FROM ${name}) AS last)`,
    )
    .get();
  const span = row?.['span'];
  return typeof span === 'number' ? span : undefined;
}

function countFirst(database: DatabaseSync, table: string): number {
  const row = database
    .prepare(`SELECT count(*) AS n FROM (SELECT 1 FROM ${identifier(table)} LIMIT ${COUNTED_ROWS})`)
    .get();
  return Number(row?.['n']);
}
