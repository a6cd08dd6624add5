import type { DatabaseSync } from 'node:sqlite';

/** How the rows of one table are read as SQL text. */
export interface TableRows {
  /** `INSERT INTO "t"("a","b") VALUES` */
  insert: string;
  /** One column per row: `(1,'x')` as bytes, so that no text is ever decoded. */
  select: string;
}

interface Column {
  name: string;
  type: string;
  pk: number;
  hidden: number;
}

/** @throws Error for a table that plain SQL cannot hold */
export function tableRows(database: DatabaseSync, table: string): TableRows {
  const all = database.prepare('SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)').all(table);
  // 2 and 3 are generated columns, which are computed anew.
  const columns = (all as unknown as Column[]).filter((column) => column.hidden === 0);
  const names = columns.map((column) => column.name);
  const hasRowid = !isWithoutRowid(database, table);
  const expressions = columns.map((column) => literal(`${identifier(column.name)}`));
  let order = '';
  if (hasRowid) {
    const rowid = ['rowid', '_rowid_', 'oid'].find(
      (name) => !names.some((other) => other.toLowerCase() === name),
    );
    if (rowid !== undefined) order = ` ORDER BY ${rowid}`;
    if (!hasRowidAlias(database, table, columns)) {
      if (rowid === undefined) throw new Error(`table ${table} hides its row numbers`);
      names.unshift(rowid);
      expressions.unshift(`quote(${rowid})`);
    }
  }
  const list = names.map(identifier).join(',');
  return {
    insert: `INSERT INTO ${identifier(table)}(${list}) VALUES\n`,
    select: `SELECT CAST(concat('(', ${expressions.join(", ',', ")}, ')') AS BLOB) FROM ${identifier(table)}${order}`,
  };
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * `quote()`, but for text after a NUL byte, which it loses. CR and bytes that are not UTF-8 are left to the writer,
 * which sees them faster than SQL does. `quote()` writes infinite numbers as 9.0e+999, which every reader takes.
 */
function literal(column: string): string {
  return `CASE WHEN typeof(${column}) = 'text' AND instr(CAST(${column} AS BLOB), x'00') THEN 'CAST(X''' || hex(${column}) || ''' AS TEXT)' ELSE quote(${column}) END`;
}

function isWithoutRowid(database: DatabaseSync, table: string): boolean {
  const row = database
    .prepare(`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?`)
    .get(table);
  return Number(row?.['wr']) === 1;
}

/** Whether a column is the row number itself (https://www.sqlite.org/lang_createtable.html#rowid). */
function hasRowidAlias(database: DatabaseSync, table: string, columns: readonly Column[]): boolean {
  const keys = columns.filter((column) => column.pk > 0);
  if (keys.length !== 1 || keys[0]!.type.toUpperCase() !== 'INTEGER') return false;
  const indexes = database.prepare('SELECT origin FROM pragma_index_list(?)').all(table);
  return !indexes.some((index) => index['origin'] === 'pk');
}
