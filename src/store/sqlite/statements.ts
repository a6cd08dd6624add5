import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery } from '../queries/define.ts';
import type { Arguments, Row } from '../schema.ts';

interface Prepared {
  statement: StatementSync;
  bind: CompiledQuery['bind'];
}

/** Prepared statements of one connection, by name; each is prepared at its first use. */
export class Statements {
  readonly database: DatabaseSync;
  readonly #queries: Readonly<Record<string, CompiledQuery>>;
  readonly #prepared = new Map<string, Prepared>();

  constructor(database: DatabaseSync, queries: Readonly<Record<string, CompiledQuery>>) {
    this.database = database;
    this.#queries = queries;
  }

  /** How many rows were written. */
  run(name: string, values: Arguments = {}): number {
    const prepared = this.#prepare(name);
    return Number(prepared.statement.run(...bound(prepared, values)).changes);
  }

  get(name: string, values: Arguments = {}): Row | undefined {
    const prepared = this.#prepare(name);
    return prepared.statement.get(...bound(prepared, values));
  }

  all(name: string, values: Arguments = {}): Row[] {
    const prepared = this.#prepare(name);
    return prepared.statement.all(...bound(prepared, values));
  }

  #prepare(name: string): Prepared {
    const known = this.#prepared.get(name);
    if (known !== undefined) return known;
    const query = this.#queries[name];
    if (query === undefined) throw new Error(`no query is called ${name}`);
    const prepared = { statement: this.database.prepare(query.sql), bind: query.bind };
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

function bound(prepared: Prepared, values: Arguments): SQLInputValue[] {
  return prepared.bind.map((item) => {
    if ('value' in item) return item.value as SQLInputValue;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${prepared.statement.sourceSQL}`);
    return value as SQLInputValue;
  });
}
