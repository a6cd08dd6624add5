/** Values of a query by the names of its slots. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A row as both databases' drivers give it. */
export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** A value now, or later: SQLite answers point reads at once, Postgres never does. */
export type Answer<T> = T | Promise<T>;
