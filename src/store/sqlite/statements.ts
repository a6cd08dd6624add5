import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { COMPILED_QUERIES } from '../queries/compiled/sqlite.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import type { CompiledQuery } from '../queries/define.ts';
import { idBytes, readIds } from '../records/id-bytes.ts';
import type { Arguments, Row } from '../schema.ts';
import type { Database } from '../verbs/steps.ts';

interface Prepared {
  statement: StatementSync;
  bind: CompiledQuery['bind'];
  ids: CompiledQuery['ids'];
}

/** The prepared statements of one connection. Each is prepared when it is used for the first time. */
export class Statements implements Database {
  readonly database: DatabaseSync;
  readonly #prepared = new Map<QueryName, Prepared>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  run<Q extends QueryName>(name: Q, values: SlotsOf<Q>): number {
    const prepared = this.#prepare(name);
    return Number(prepared.statement.run(...bound(prepared, values)).changes);
  }

  get<Q extends QueryName>(name: Q, values: SlotsOf<Q>): RowOf<Q> | undefined {
    const prepared = this.#prepare(name);
    const row = prepared.statement.get(...bound(prepared, values));
    if (row !== undefined) readIds([row as Row], prepared.ids);
    return row as RowOf<Q> | undefined;
  }

  all<Q extends QueryName>(name: Q, values: SlotsOf<Q>): RowOf<Q>[] {
    const prepared = this.#prepare(name);
    const rows = prepared.statement.all(...bound(prepared, values)) as Row[];
    return readIds(rows, prepared.ids) as RowOf<Q>[];
  }

  /** Reads the rows one by one. The iterator must be used up before the statement runs again. */
  *iterate<Q extends QueryName>(name: Q, values: SlotsOf<Q>): Iterable<RowOf<Q>> {
    const prepared = this.#prepare(name);
    for (const row of prepared.statement.iterate(...bound(prepared, values))) {
      readIds([row as Row], prepared.ids);
      yield row as RowOf<Q>;
    }
  }

  #prepare(name: QueryName): Prepared {
    const known = this.#prepared.get(name);
    if (known !== undefined) return known;
    const { sql, bind, ids } = COMPILED_QUERIES[name];
    const prepared = { statement: this.database.prepare(sql), bind, ids };
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

function bound({ bind, statement }: Prepared, values: Arguments): SQLInputValue[] {
  return boundValues(bind, values, statement.sourceSQL);
}

/** Returns the values of a query's parameters in order. `sql` is for the message of an error. */
export function boundValues(bind: CompiledQuery['bind'], values: Arguments, sql: string): SQLInputValue[] {
  return bind.map((item) => {
    if ('value' in item) return item.value as SQLInputValue;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${sql}`);
    // SQLite has no lists, so its queries read them from JSON text. A list of ids contains their bytes in hexadecimal.
    if (Array.isArray(value))
      return JSON.stringify(item.id ? value.map((id) => Buffer.from(idBytes(id)).toString('hex')) : value);
    return (item.id ? idBytes(value as string) : value) as SQLInputValue;
  });
}
