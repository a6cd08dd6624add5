import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from '../schema.ts';

/** SQL text with the order in which named arguments, or constants, are bound. */
export interface CompiledQuery {
  sql: string;
  bind: readonly ({ slot: string } | { value: unknown })[];
}

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Stands for an argument that is bound by name when the query runs. */
// biome-ignore lint/suspicious/noExplicitAny: it takes the place of a value of any column
export function slot(name: string): any {
  return new Slot(name);
}

/** A slot of its own for every column. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the place of a value of its column
export function slots(columns: readonly string[]): any {
  return Object.fromEntries(columns.map((column) => [column, slot(column)]));
}

/** A Kysely that only compiles. */
export function compiler(dialect: 'sqlite' | 'postgres'): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect:
      dialect === 'sqlite'
        ? {
            createAdapter: () => new SqliteAdapter(),
            createDriver: () => new DummyDriver(),
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createAdapter: () => new PostgresAdapter(),
            createDriver: () => new DummyDriver(),
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          },
  });
}

/** What Kysely's builders have in common. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[] };
}

export function compileQuery(query: Compilable): CompiledQuery {
  const { sql, parameters } = query.compile();
  return {
    sql,
    bind: parameters.map((value) => (value instanceof Slot ? { slot: value.name } : { value })),
  };
}
