import type { DatabaseSync } from 'node:sqlite';
import { writeRows } from './write-rows.ts';

const CHUNK_BYTES = 256 * 1024;

/** The last line of every dump. */
export const END_LINE = '-- idkit dump complete';

interface SchemaEntry {
  type: 'table' | 'index' | 'trigger' | 'view';
  name: string;
  sql: string;
}

/**
 * Writes a database as plain SQL that `sqlite3` loads alone. The caller holds the read transaction. Tables come
 * with their rows first, then indexes, triggers and views, so that nothing fires and no index grows row by row.
 *
 * @param emit gets chunks that it may keep
 */
export function writeDump(database: DatabaseSync, emit: (chunk: Uint8Array<ArrayBuffer>) => void): void {
  const out = new ChunkedOutput(emit);
  const schema = database
    .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`)
    .all() as unknown as SchemaEntry[];
  const own = schema.filter(({ name }) => !name.startsWith('sqlite_'));
  out.text('PRAGMA foreign_keys=OFF;\nBEGIN;\n');
  for (const { name, sql } of own.filter(({ type }) => type === 'table')) {
    if (/^CREATE\s+VIRTUAL\s/i.test(sql)) throw new Error(`table ${name} is virtual and cannot be dumped`);
    out.text(`${sql};\n`);
    writeRows(database, name, (bytes) => out.bytes(bytes));
  }
  for (const kind of ['index', 'trigger', 'view'])
    for (const { sql } of own.filter(({ type }) => type === kind)) out.text(`${sql};\n`);
  for (const pragma of ['application_id', 'user_version'])
    out.text(`PRAGMA ${pragma}=${database.prepare(`PRAGMA ${pragma}`).get()![pragma]};\n`);
  out.text(`COMMIT;\n${END_LINE}\n`);
  out.flush();
}

/** Collects small pieces into chunks. */
class ChunkedOutput {
  readonly #emit: (chunk: Uint8Array<ArrayBuffer>) => void;
  #chunk = new Uint8Array(CHUNK_BYTES);
  #length = 0;

  constructor(emit: (chunk: Uint8Array<ArrayBuffer>) => void) {
    this.#emit = emit;
  }

  text(text: string): void {
    this.bytes(Buffer.from(text));
  }

  flush(): void {
    if (this.#length > 0) this.#emit(this.#chunk.slice(0, this.#length));
    this.#length = 0;
  }

  bytes(bytes: Uint8Array): void {
    let done = 0;
    while (done < bytes.length) {
      const part = Math.min(bytes.length - done, CHUNK_BYTES - this.#length);
      this.#chunk.set(
        done === 0 && part === bytes.length ? bytes : bytes.subarray(done, done + part),
        this.#length,
      );
      this.#length += part;
      done += part;
      if (this.#length === CHUNK_BYTES) {
        this.#emit(this.#chunk);
        this.#chunk = new Uint8Array(CHUNK_BYTES);
        this.#length = 0;
      }
    }
  }
}
