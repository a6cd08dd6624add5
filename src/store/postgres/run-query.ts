import type { QueryResult } from 'pg';
import type { CompiledQuery } from '../queries/define.ts';
import type { Arguments, Row } from '../rows.ts';
import type { Ask } from '../verbs/steps.ts';
import { COMPILED_QUERIES } from './compiled-queries.ts';

/** What a query can be run on. */
export interface Connection {
  query(config: { name?: string; text: string; values?: unknown[] }): Promise<QueryResult>;
}

/** A query of fixed shape as pg takes it: prepared under its name. */
export function prepared(name: string, values: Arguments): { name: string; text: string; values: unknown[] } {
  const query = COMPILED_QUERIES[name];
  if (query === undefined) throw new Error(`no query is called ${name}`);
  return { name, text: query.sql, values: bound(query, values) };
}

/** The answer to what a verb asks. */
export async function answer(connection: Connection, { how, query, values }: Ask): Promise<unknown> {
  const { rows, rowCount } = await connection.query(prepared(query, values));
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
