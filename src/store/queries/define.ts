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

/** The SQL text of a query, and its named arguments and constants in the order in which they are bound. */
export interface CompiledQuery {
  sql: string;
  bind: readonly Bound[];
  /** The result columns that contain ids as bytes (see `ID_COLUMNS`). */
  ids?: readonly string[];
}

/** A named argument or a constant. With `id`, the argument is an id, or an array of ids, that is bound as bytes. */
export type Bound = { slot: string; id?: true } | { value: unknown };

/** A named argument of a query. It gets its value when the query runs. */
export class Slot {
  readonly name: string;
  /**
   * The type of the argument: that of a column, written as `TABLE.COLUMN`, or `string`. The suffix `[]` makes it an
   * array.
   */
  readonly type: string | undefined;
  constructor(name: string, type: string | undefined) {
    this.name = name;
    this.type = type;
  }
}

/**
 * Returns a placeholder for a named argument.
 *
 * @param type see `Slot`. Default: the type of the column that the argument is compared with or written to. Required
 * inside raw SQL
 */
// biome-ignore lint/suspicious/noExplicitAny: it takes the place of a value of any column
export function slot(name: string, type?: string): any {
  return new Slot(name, type);
}

/** Returns one slot for each column. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the place of a value of its column
export function slots(columns: readonly string[]): any {
  return Object.fromEntries(columns.map((column) => [column, slot(column)]));
}

/** Returns a Kysely instance that compiles queries but cannot run them. */
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

/** The method that all query builders of Kysely have in common. */
export interface Compilable {
  compile(): { sql: string; parameters: readonly unknown[]; query: OperationNode };
}

/** @param isId reports whether a slot has the type of a column of `ID_COLUMNS` */
export function compileQuery(query: Compilable, isId: (slot: Slot) => boolean): CompiledQuery {
  const { sql, parameters } = query.compile();
  return {
    sql,
    bind: parameters.map((value) => {
      if (!(value instanceof Slot)) return { value };
      return isId(value) ? { slot: value.name, id: true } : { slot: value.name };
    }),
  };
}
