import type { DatabaseSync } from 'node:sqlite';
import { identifier, rowText } from './row-text.ts';

/** The SQL that reads the rows of one table as SQL text. The results are bytes, so that no text is decoded. */
export interface TableRows {
  /** The head of an INSERT, for example `INSERT INTO "t"("a","b") VALUES`. */
  insert: string;
  /** Selects one row at a time, for example `(1,'x')`: `$rows` rows (-1 for all) after the first `$start`. */
  single: string;
  /**
   * Selects `$rows` rows at a time, separated by commas: all rows after the first `$start`. The key of a batch never
   * leaves SQLite, so it can have any type. Undefined for a table whose key has no name.
   */
  batches: string | undefined;
}

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/**
 * Returns the SQL that reads the rows of `table`.
 *
 * @throws Error for a table that SQL text cannot represent
 */
export function tableRows(database: DatabaseSync, table: string): TableRows {
  const all = database
    .prepare('SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)')
    .all(table);
  // Skips generated columns (`hidden` is 2 or 3), because SQLite computes their values.
  const columns = all
    .filter(({ hidden }) => hidden === 0)
    .map(({ name, type, notnull, pk }) => ({
      name: String(name),
      type: String(type),
      notnull: Number(notnull),
      pk: Number(pk),
    }));
  const written = columns.map(({ name, type, notnull }) => ({ name, type, mayBeNull: notnull === 0 }));
  let key: string[];
  if (isWithoutRowid(database, table)) {
    const keys = columns.filter((column) => column.pk > 0).sort((a, b) => a.pk - b.pk);
    key = keys.map(({ name }) => identifier(name));
  } else {
    const rowid = ['rowid', '_rowid_', 'oid'].find(
      (name) => !columns.some((other) => other.name.toLowerCase() === name),
    );
    key = rowid === undefined ? [] : [rowid];
    if (!hasRowidAlias(database, table, columns)) {
      if (rowid === undefined) throw new Error(`table ${table} hides its row numbers and cannot be dumped`);
      written.unshift({ name: rowid, type: 'INTEGER', mayBeNull: false });
    }
  }
  const list = written.map(({ name }) => identifier(name)).join(',');
  const from = `main.${identifier(table)}`;
  const text = rowText(written);
  const order = key.length === 0 ? '' : ` ORDER BY ${key.join(', ')}`;
  return {
    insert: `INSERT INTO ${identifier(table)}(${list}) VALUES\n`,
    single: `SELECT CAST(${text} AS BLOB) FROM ${from}${order} LIMIT $rows OFFSET $start`,
    batches: key.length === 0 ? undefined : batches(table, key, text),
  };
}

/** Returns a query that steps through the key, `$rows` rows at a time. A subquery joins the rows of each step. */
function batches(table: string, key: readonly string[], text: string): string {
  // The name must differ from the table's name, which it would otherwise hide.
  const place = identifier(`place in ${table}`);
  const from = `main.${identifier(table)}`;
  const columns = key.join(', ');
  const places = key.map((_, index) => `key${index}`).join(', ');
  const here = key.map((_, index) => `${place}.key${index}`).join(', ');
  const next = key.map((name) => `next.${name}`).join(', ');
  return `
    WITH RECURSIVE ${place}(${places}) AS (
      SELECT * FROM (SELECT ${columns} FROM ${from} ORDER BY ${columns} LIMIT 1 OFFSET $start)
      UNION ALL
      SELECT ${next} FROM ${place} CROSS JOIN ${from} AS next ON (${next}) =
        (SELECT ${columns} FROM ${from} WHERE (${columns}) > (${here}) ORDER BY ${columns} LIMIT 1 OFFSET $rows - 1)
    )
    SELECT (
      SELECT CAST(group_concat("dump text", ',' || char(10)) AS BLOB)
      FROM (SELECT ${text} AS "dump text" FROM ${from} WHERE (${columns}) >= (${here}) ORDER BY ${columns} LIMIT $rows)
    ) FROM ${place}`;
}

function isWithoutRowid(database: DatabaseSync, table: string): boolean {
  const row = database
    .prepare(`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`)
    .get(table);
  return Number(row?.['wr']) === 1;
}

/** Reports whether a column is an alias of the row number (https://www.sqlite.org/lang_createtable.html#rowid). */
function hasRowidAlias(database: DatabaseSync, table: string, columns: readonly Column[]): boolean {
  const [key, ...others] = columns.filter((column) => column.pk > 0);
  if (others.length > 0 || key?.type.toUpperCase() !== 'INTEGER') return false;
  const indexes = database.prepare('SELECT origin FROM pragma_index_list(?)').all(table);
  return !indexes.some((index) => index['origin'] === 'pk');
}
