import type { DatabaseSync } from 'node:sqlite';
import { type Clock, IdkitError } from '../../core/index.ts';
import type { Sealing } from '../records/configuration.ts';
import { COMPILED_QUERIES } from './compiled-queries.ts';
import { mapFault } from './faults.ts';
import type { Verb, Verbs } from './messages.ts';
import type { Reader } from './reader.ts';
import { type Arguments, type Row, Statements } from './statements.ts';
import type { Writer } from './writer/writer.ts';

/** What the store works with; `writer` is absent in a store opened for reading. */
export interface SqliteParts {
  file: string;
  database: DatabaseSync;
  reader: Reader;
  writer: Writer | undefined;
  sealing: Sealing;
  clock: Clock;
  /** Runs after everything is closed. */
  closed(): void;
}

/** How queries reach the connections and threads of one database, and how these end. */
export abstract class SqliteBase {
  protected readonly parts: SqliteParts;
  protected readonly sql: Statements;
  #closing: Promise<void> | undefined;

  constructor(parts: SqliteParts) {
    this.parts = parts;
    this.sql = new Statements(parts.database, COMPILED_QUERIES);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.parts.reader.close();
    this.parts.database.close();
    await this.parts.writer?.close();
    this.parts.closed();
  }

  /** On the main thread's own connection. */
  protected read<T>(read: () => T): T {
    if (this.#closing !== undefined) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
    try {
      return read();
    } catch (error) {
      throw mapFault(error, this.parts.file);
    }
  }

  /** A query of fixed shape in the reader thread. */
  protected long(query: string, values: Arguments): Promise<Row[]> {
    const { sql, bind } = COMPILED_QUERIES[query]!;
    return this.parts.reader.all(
      sql,
      bind.map((item) => ('value' in item ? item.value : values[item.slot])),
    );
  }

  protected search(query: { compile(): { sql: string; parameters: readonly unknown[] } }): Promise<Row[]> {
    const { sql, parameters } = query.compile();
    return this.parts.reader.all(sql, parameters);
  }

  protected run(query: string, values: Arguments): Promise<number> {
    return this.write('run', { query, values });
  }

  protected write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    const { writer } = this.parts;
    if (writer === undefined)
      return Promise.reject(new IdkitError('IDKIT_FAILED', 'the database is open for reading only'));
    return writer.call(verb, input);
  }
}
