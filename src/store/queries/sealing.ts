import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Number of records that one transaction encrypts. */
const PAGE = 200;

/** Queries for rotating the master key. */
export function sealingQueries(db: Kysely<Tables>): Record<string, Compilable> {
  const queries: Record<string, Compilable> = {};
  for (const table of ['realm', 'client', 'component', 'credential', 'trash_part'] as const) {
    queries[`${table}.sealedAfter`] = db
      .selectFrom(table)
      .select(['id', 'sealed'])
      .where('sealed', 'is not', null)
      .where('id', '>', slot('after'))
      .orderBy('id')
      .limit(PAGE);
    queries[`${table}.reseal`] = db
      .updateTable(table)
      .set({ sealed: slot('sealed') })
      .where('id', '=', slot('id'))
      .where('sealed', '=', slot('previous'));
  }
  return {
    ...queries,
    'meta.add': db
      .insertInto('meta')
      .values({ name: slot('name'), value: slot('value') })
      .onConflict((conflict) => conflict.doNothing()),
    'meta.deleteOthers': db
      .deleteFrom('meta')
      .where('name', 'like', slot('pattern'))
      .where('name', '<>', slot('name')),
  };
}
