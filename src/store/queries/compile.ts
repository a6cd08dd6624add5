import { writeFileSync } from 'node:fs';
import { type CompiledQuery, compileQuery } from './define.ts';
import { defineAll } from './index.ts';
import { POSTGRES_ROWS } from './postgres.ts';
import { idSlots, idsOfRow, namedIds, namedRowType, rowType, slotsType } from './types.ts';

const HEAD =
  '// Written by `node src/store/queries/compile.ts` from the queries. A test checks that it is up to date.\n';

/** Path of the module with the tables, relative to `compiled/`. */
const SCHEMA = '../../schema.ts';

/** Returns the source of the module `compiled/DIALECT.ts`, with one query on each line. */
export function renderCompiledQueries(dialect: 'sqlite' | 'postgres'): string {
  const lines = compileAll(dialect).map(
    ([name, query]) => `  ${JSON.stringify(name)}: ${JSON.stringify(query)},\n`,
  );
  const names = dialect === 'sqlite' ? 'QueryName' : 'PostgresQueryName | QueryName';
  return `${HEAD}import type { CompiledQuery } from '../define.ts';
import type { ${names.replace(' |', ',')} } from './types.ts';

// biome-ignore format: generated
export const COMPILED_QUERIES: Readonly<Record<${names}, CompiledQuery>> = {
${lines.join('')}};
`;
}

function compileAll(dialect: 'sqlite' | 'postgres'): (readonly [name: string, query: CompiledQuery])[] {
  const onSqlite = defineAll('sqlite');
  return Object.entries(defineAll(dialect)).map(([name, query]) => {
    const compiled = compileQuery(query, idSlots(query));
    const rows = dialect === 'postgres' ? POSTGRES_ROWS[name] : undefined;
    const ids = typeof rows === 'object' ? namedIds(rows) : idsOfRow(onSqlite[rows ?? name]!.compile().sql);
    return [name, ids.length === 0 ? compiled : { ...compiled, ids }] as const;
  });
}

/** Returns the source of the module `compiled/types.ts`. */
export function renderQueryTypes(): string {
  const common = Object.entries(defineAll('sqlite')).map(([name, query]) =>
    line(name, slotsType(query), rowType(name, query.compile().sql)),
  );
  const postgres = Object.entries(defineAll('postgres')).flatMap(([name, query]) => {
    const rows = POSTGRES_ROWS[name];
    if (rows === undefined) return [];
    return line(
      name,
      slotsType(query),
      typeof rows === 'string' ? `Queries['${rows}']['row']` : namedRowType(rows),
    );
  });
  return `${HEAD}import type { Tables } from '${SCHEMA}';

/** The queries of both databases, each with the types of its slots and of its rows. */
// biome-ignore format: generated
export interface Queries {
${common.join('')}}

/** The queries that run only on Postgres. */
// biome-ignore format: generated
export interface PostgresQueries {
${postgres.join('')}}

export type QueryName = keyof Queries;
export type PostgresQueryName = keyof PostgresQueries;
export type SlotsOf<Q extends QueryName> = Queries[Q]['slots'];
export type RowOf<Q extends QueryName> = Queries[Q]['row'];
`;
}

function line(name: string, slots: string, row: string): string {
  return `  '${name}': { slots: ${slots}; row: ${row} };\n`;
}

if (import.meta.main) {
  const write = (name: string, text: string) =>
    writeFileSync(new URL(`./compiled/${name}.ts`, import.meta.url), text);
  write('sqlite', renderCompiledQueries('sqlite'));
  write('postgres', renderCompiledQueries('postgres'));
  write('types', renderQueryTypes());
}
