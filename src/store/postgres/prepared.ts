import type { PoolClient } from 'pg';
import { COMPILED_QUERIES } from '../queries/compiled/postgres.ts';
import type { PostgresQueries, Queries } from '../queries/compiled/types.ts';
import type { CompiledQuery } from '../queries/define.ts';
import type { Arguments } from '../schema.ts';
import type { Ask } from '../verbs/steps.ts';

/** Every query that Postgres has. */
interface AllQueries extends Queries, PostgresQueries {}

/** A connection that a query can run on. */
export type Connection = Pick<PoolClient, 'query'>;

/** A query for pg. `R` is the type of its rows. */
export interface Order<R> {
  name?: string;
  text: string;
  values: unknown[];
  /** Milliseconds after which pg stops waiting for the result. The types of pg lack it. */
  query_timeout?: number;
  /** Never set: it carries the type of the rows. */
  readonly rows?: R;
}

/** Returns a query of fixed shape for pg, which prepares it under its name. */
export function prepared<Q extends keyof AllQueries>(
  name: Q,
  values: AllQueries[Q]['slots'],
): Order<AllQueries[Q]['row']> {
  const query = COMPILED_QUERIES[name];
  return { name, text: query.sql, values: bound(query, values) };
}

/** Returns the rows of a query. */
export async function rowsOf<R>(connection: Connection, order: Order<R>): Promise<R[]> {
  const { rows }: { rows: unknown[] } = await connection.query(order);
  return rows as R[];
}

/** @param milliseconds timeout of the result. Default: the timeout of the connection */
export async function answer(
  connection: Connection,
  { how, query, values }: Ask,
  milliseconds?: number,
): Promise<unknown> {
  const order: Order<unknown> = prepared(query, values);
  if (milliseconds !== undefined) order.query_timeout = milliseconds;
  const { rows, rowCount } = await connection.query(order);
  if (how === 'run' || how === 'send') return rowCount ?? 0;
  return how === 'get' ? rows[0] : rows;
}

function bound(query: CompiledQuery, values: Arguments): unknown[] {
  return query.bind.map((item) => {
    if ('value' in item) return item.value;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${query.sql}`);
    return typeof value === 'string' ? withoutNul(value) : value;
  });
}

/** Replaces NUL, the one character that no text in Postgres can hold. JSON documents hold it escaped. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
