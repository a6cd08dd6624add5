import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Queries of background migrations. */
export function backgroundQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  const find = db.selectFrom('background_migration').selectAll().where('name', '=', slot('name'));
  return {
    'background.all': db.selectFrom('background_migration').selectAll(),
    'background.begin': db
      .insertInto('background_migration')
      .values({ name: slot('name'), position: '', handled: 0, finished: 0 })
      .onConflict((conflict) => conflict.doNothing()),
    /** Returns no row if another store is running a slice. SQLite has only one writer. */
    'background.claim': dialect === 'sqlite' ? find : find.forUpdate().skipLocked(),
    'background.advance': db
      .updateTable('background_migration')
      .set({
        position: slot('position'),
        handled: sql<number>`handled + ${slot('handled', 'background_migration.handled')}`,
        finished: slot('finished'),
      })
      .where('name', '=', slot('name')),
  };
}
