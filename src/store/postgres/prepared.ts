import type { PoolClient } from 'pg';
import { COMPILED_QUERIES } from '../queries/compiled/postgres.ts';
import type { PostgresQueries, Queries } from '../queries/compiled/types.ts';
import type { CompiledQuery } from '../queries/define.ts';
import { boundId, readIds } from '../records/id-bytes.ts';
import type { Arguments, Row } from '../schema.ts';
import type { Ask } from '../verbs/steps.ts';

/** Every query that the Postgres driver can run: those of both databases, and those of Postgres only. */
interface AllQueries extends Queries, PostgresQueries {}

/** The part of a connection that runs queries. */
export type Connection = Pick<PoolClient, 'query'>;

/** A query in the format of the library pg. `R` is the type of its rows. */
export interface Order<R> {
  name?: string;
  text: string;
  values: unknown[];
  /** Timeout in milliseconds for the result. pg's type declarations lack this option. */
  query_timeout?: number;
  /** The columns of the rows that contain ids as bytes. */
  ids?: readonly string[];
  /** Never set. It only carries the type of the rows. */
  readonly rows?: R;
}

/** Returns a compiled query for pg, which prepares it on the server under its name. */
export function prepared<Q extends keyof AllQueries>(
  name: Q,
  values: AllQueries[Q]['slots'],
): Order<AllQueries[Q]['row']> {
  const query = COMPILED_QUERIES[name];
  const order = { name, text: query.sql, values: bound(query, values) };
  return query.ids === undefined ? order : { ...order, ids: query.ids };
}

/** Returns the rows of a query. */
export async function rowsOf<R>(connection: Connection, order: Order<R>): Promise<R[]> {
  const { rows }: { rows: Row[] } = await connection.query(order);
  return readIds(rows, order.ids) as R[];
}

/**
 * Runs one statement of a verb. Returns the number of written rows, the first row or all rows, depending on `how`.
 *
 * @param milliseconds timeout for the result. Default: the connection's timeout
 */
export async function answer(
  connection: Connection,
  { how, query, values }: Ask,
  milliseconds?: number,
): Promise<unknown> {
  const order: Order<unknown> = prepared(query, values);
  if (milliseconds !== undefined) order.query_timeout = milliseconds;
  const { rows, rowCount }: { rows: Row[]; rowCount: number | null } = await connection.query(order);
  if (how === 'run' || how === 'send') return rowCount ?? 0;
  readIds(rows, order.ids);
  return how === 'get' ? rows[0] : rows;
}

function bound(query: CompiledQuery, values: Arguments): unknown[] {
  return query.bind.map((item) => {
    if ('value' in item) return item.value;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${query.sql}`);
    if (item.id) return boundId(value);
    return typeof value === 'string' ? withoutNul(value) : value;
  });
}

/**
 * Replaces NUL, the only character that Postgres cannot store in text. JSON documents contain it only in escaped form.
 */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
