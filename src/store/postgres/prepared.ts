import type { QueryResult } from 'pg';
import { COMPILED_QUERIES } from '../queries/compiled/postgres.ts';
import type { CompiledQuery } from '../queries/define.ts';
import type { Arguments, Row } from '../schema.ts';
import type { Ask } from '../verbs/steps.ts';

/** What a query can be run on. */
export interface Connection {
  query(config: QueryOrder): Promise<QueryResult>;
}

/** A query as pg takes it. */
interface QueryOrder {
  name?: string;
  text: string;
  values?: unknown[];
  /** Milliseconds after which no answer is awaited any more; not among the types of pg. */
  query_timeout?: number;
}

/** A query of fixed shape as pg takes it: prepared under its name. */
export function prepared(name: string, values: Arguments): { name: string; text: string; values: unknown[] } {
  const query = COMPILED_QUERIES[name];
  if (query === undefined) throw new Error(`no query is called ${name}`);
  return { name, text: query.sql, values: bound(query, values) };
}

/** @param milliseconds that the answer may take, where not as long as all others */
export async function answer(
  connection: Connection,
  { how, query, values }: Ask,
  milliseconds?: number,
): Promise<unknown> {
  const order: QueryOrder = prepared(query, values);
  if (milliseconds !== undefined) order.query_timeout = milliseconds;
  const { rows, rowCount } = await connection.query(order);
  if (how === 'run' || how === 'send') return rowCount ?? 0;
  return how === 'get' ? (rows as Row[])[0] : (rows as Row[]);
}

function bound(query: CompiledQuery, values: Arguments): unknown[] {
  return query.bind.map((item) => {
    if ('value' in item) return item.value;
    const value = values[item.slot];
    if (value === undefined) throw new Error(`no value for ${item.slot} in ${query.sql}`);
    return typeof value === 'string' ? withoutNul(value) : value;
  });
}

/** The one character that Postgres keeps in no text; JSON documents hold it escaped. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
