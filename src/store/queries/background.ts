import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Number of rows of one table up to which Postgres counts them. For a larger table, it uses its statistics. */
const COUNTED = 1_000_000;

/** Queries of background migrations. */
export function backgroundQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  const find = db.selectFrom('background_migration').selectAll().where('name', '=', slot('name'));
  const rows = (table: string, where = sql``) =>
    dialect === 'sqlite'
      ? sql<number>`(select count(*) from ${sql.table(table)}${where})`
      : sql<number>`(
  select case when amount < ${sql.lit(COUNTED)} then amount
    else greatest(amount, (select reltuples::bigint from pg_class where oid = ${sql.lit(table)}::regclass)) end
  from (select count(*) as amount from (select from ${sql.table(table)}${where} limit ${sql.lit(COUNTED)}) as first) as counted)`;
  const left = (...tables: RawBuilder<number>[]): Compilable => ({
    compile: () => sql`select ${sql.join(tables, sql` + `)} as records`.compile(db),
  });
  const unnamed = sql` where username is null`;
  // On SQLite, the events move out of a table. On Postgres, they stay where they are.
  const events = dialect === 'sqlite' ? ['event_0', 'admin_event_0'] : ['event', 'admin_event'];
  return {
    // SQLite has no statistics. A process other than the service counts there, for at most 15 s.
    'left.sessions': left(rows('user_session_0')),
    'left.events': left(...events.map((table) => rows(table))),
    'left.members': left(rows('user_role', unnamed), rows('user_group', unnamed)),
    'left.users': left(rows('account')),
    /** Keeps the number of records that a migration has when it begins, unless another store has kept it. */
    'background.count': db
      .insertInto('record_count')
      .values({ kind: sql.lit('migration'), owner: slot('name'), amount: slot('records') })
      .onConflict((conflict) => conflict.doNothing()),
    'background.counted': db
      .selectFrom('record_count')
      .select(['owner', 'amount'])
      .where('kind', '=', sql.lit('migration')),
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
