import { DatabaseSync } from 'node:sqlite';
import { writeDump } from '../../src/store/sqlite/dump/write-dump.ts';

/** Returns the dump of a database, which need not be idkit's. */
export function dumpDirectly(file: string): Buffer {
  const database = new DatabaseSync(file, { readOnly: true });
  const chunks: Uint8Array[] = [];
  writeDump(database, (chunk) => chunks.push(Buffer.from(chunk)));
  database.close();
  return Buffer.concat(chunks);
}

/** Splits SQL text into chunks of `size` bytes. */
export async function* inPieces(sql: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sql.length; at += size) yield sql.subarray(at, at + size);
}

/** Returns the rows of every table, with the row numbers and the type and bytes of each value. */
export function contents(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'table'`).all();
  const rows = tables.map(({ name, sql }) => {
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(name!);
    const parts = columns.map(({ name: c }) => `typeof("${c}"), hex("${c}"), quote("${c}")`);
    const rowid = /WITHOUT ROWID/i.test(String(sql)) ? '0' : 'quote(_rowid_)';
    return [
      name,
      database
        .prepare(
          `SELECT ${rowid}, ${parts.join()} FROM "${String(name).replaceAll('"', '""')}" ORDER BY 1, 3`,
        )
        .all(),
    ];
  });
  const pragmas = ['user_version', 'application_id'].map((name) => database.prepare(`PRAGMA ${name}`).get());
  database.close();
  return { rows, pragmas };
}
