import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { COMPILED_QUERIES } from '../queries/compiled/sqlite.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import type { CompiledQuery } from '../queries/define.ts';
import type { Arguments } from '../schema.ts';
import type { Database } from '../verbs/steps.ts';

interface Prepared {
  statement: StatementSync;
  bind: CompiledQuery['bind'];
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
    return prepared.statement.get(...bound(prepared, values)) as RowOf<Q> | undefined;
  }

  all<Q extends QueryName>(name: Q, values: SlotsOf<Q>): RowOf<Q>[] {
    const prepared = this.#prepare(name);
    return prepared.statement.all(...bound(prepared, values)) as RowOf<Q>[];
  }

  #prepare(name: QueryName): Prepared {
    const known = this.#prepared.get(name);
    if (known !== undefined) return known;
    const { sql, bind } = COMPILED_QUERIES[name];
    const prepared = { statement: this.database.prepare(sql), bind };
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

function bound(prepared: Prepared, values: Arguments): SQLInputValue[] {
  return prepared.bind.map((item) => {
    if ('value' in item) return item.value as SQLInputValue;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${prepared.statement.sourceSQL}`);
    // SQLite has no lists, so its queries read them from JSON text.
    return (Array.isArray(value) ? JSON.stringify(value) : value) as SQLInputValue;
  });
}
