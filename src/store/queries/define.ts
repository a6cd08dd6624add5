import {
  DummyDriver,
  Kysely,
  type OperationNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from '../schema.ts';

/** SQL text with its named arguments and constants, in the order of binding. */
export interface CompiledQuery {
  sql: string;
  bind: readonly ({ slot: string } | { value: unknown })[];
}

/** An argument that is bound by its name when the query runs. */
export class Slot {
  readonly name: string;
  /** The column whose type the argument has, `TABLE.COLUMN`, or `string`; with `[]` an array of them. */
  readonly type: string | undefined;
  constructor(name: string, type: string | undefined) {
    this.name = name;
    this.type = type;
  }
}

/**
 * @param type see `Slot`. Default: the column that the argument is compared with or written to. Required inside raw SQL
 */
// biome-ignore lint/suspicious/noExplicitAny: it takes the place of a value of any column
export function slot(name: string, type?: string): any {
  return new Slot(name, type);
}

/** One slot for each column. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the place of a value of its column
export function slots(columns: readonly string[]): any {
  return Object.fromEntries(columns.map((column) => [column, slot(column)]));
}

/** Returns a Kysely that compiles queries and runs none. */
export function compiler<T = Tables>(dialect: 'sqlite' | 'postgres'): Kysely<T> {
  return new Kysely<T>({
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

/** The common part of Kysely's builders. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[]; query: OperationNode };
}

export function compileQuery(query: Compilable): CompiledQuery {
  const { sql, parameters } = query.compile();
  return {
    sql,
    bind: parameters.map((value) => (value instanceof Slot ? { slot: value.name } : { value })),
  };
}
