import { type ExpressionBuilder, type Kysely, type RawBuilder, sql } from 'kysely';
import { idBytesSql } from '../records/id-bytes.ts';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';
import { touchOfClient } from './sessions.ts';

/**
 * Queries of the sessions that an older version stored and that the background migration `session rows` has not moved
 * yet. Nothing is ever added to their tables.
 */
export function unmovedQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  const bytes = (column: string) => sql.raw(idBytesSql(column, dialect));
  const parts = { address: `'$.ipAddress'`, notes: `'$.notes'` };
  const clients =
    dialect === 'sqlite'
      ? sql<string>`json_group_array(distinct client_uuid)`
      : sql<string>`coalesce(json_agg(distinct client_uuid), '[]')`;
  const doc =
    dialect === 'sqlite'
      ? sql.raw<string>(
          `CASE WHEN json_extract(doc, ${parts.notes}) = '{}' THEN json_array(json_extract(doc, ${parts.address}))
           ELSE json_array(json_extract(doc, ${parts.address}), json(json_extract(doc, ${parts.notes}))) END`,
        )
      : sql.raw<string>(
          `CASE WHEN doc::json->>'notes' = '{}' THEN json_build_array(doc::json->'ipAddress')::text
           ELSE json_build_array(doc::json->'ipAddress', doc::json->'notes')::text END`,
        );
  /** Locks the rows, so that two stores never move the same session. */
  const lock = sql.raw(dialect === 'sqlite' ? '' : 'for update');
  const of = (column: string): RawBuilder<unknown> =>
    sql`${sql.ref(column)} between ${slot('first', 'user_session_0.id')} and ${slot('last', 'user_session_0.id')}`;
  return {
    'unmoved.range': db
      .selectFrom((eb) =>
        eb
          .selectFrom('user_session_0')
          .select('id')
          .where('id', '>', slot('after'))
          .orderBy('id')
          .limit(slot('limit'))
          .as('next'),
      )
      .select([
        sql<string | null>`min(id)`.as('first_id'),
        sql<string | null>`max(id)`.as('last_id'),
        sql<number>`count(*)`.as('rows'),
      ]),
    // In the order of their keys, so that the pages of the new indexes are full.
    'unmoved.moveSessions': {
      compile: () =>
        sql`
insert into user_session (id, offline, user_id, started_at, last_access_at, remember_me, look_again, doc)
select ${bytes('id')}, offline, user_id, started_at, last_access_at, remember_me, look_again, ${doc}
from (select * from user_session_0 where ${of('id')} order by id ${lock}) as old where true
on conflict do nothing`.compile(db),
    },
    'unmoved.moveFamilies': {
      compile: () =>
        sql`
insert into token_family (session_id, id, offline, client_uuid, current_hash, parent_hash, parent_uses, scope, started_at, last_refresh_at, notes)
select ${bytes('session_id')}, ${bytes('id')}, offline, ${bytes('client_uuid')}, current_hash, parent_hash, parent_uses, scope, started_at, last_refresh_at,
  case notes when '{}' then '' else notes end
from (select * from token_family_0 where ${of('session_id')} order by session_id ${lock}) as old where true
on conflict do nothing`.compile(db),
    },
    'unmoved.delete': {
      compile: () => sql`delete from user_session_0 where ${of('id')}`.compile(db),
    },
    'unmoved.any': db.selectFrom('user_session_0').select('id').limit(1),
    'unmoved.find': db.selectFrom('user_session_0').select('id').where('id', '=', slot('id')).limit(1),
    'unmoved.ofUser': db
      .selectFrom('user_session_0')
      .select('id')
      .distinct()
      .where('user_id', '=', slot('user_id'))
      .limit(slot('limit')),
    'unmoved.ofRealm': db
      .selectFrom('user_session_0')
      .select('id')
      .where('realm_id', '=', slot('realm_id'))
      .where('offline', '=', 0)
      .limit(slot('limit')),
    'unmoved.deleteOfRealm': db
      .deleteFrom('user_session_0')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('user_session_0')
          .select('id')
          .where('realm_id', '=', slot('realm_id'))
          .where('offline', '=', 0)
          .limit(slot('limit')),
      )
      .where('offline', '=', 0),
    'unmoved.touchOfClient': touchOfClient(db, dialect, '_0'),
    'unmoved.deleteOfClient': db.deleteFrom('token_family_0').where('client_uuid', '=', slot('client_uuid')),
    'unmoved.ofClient': db
      .selectFrom('user_session_0')
      .innerJoin('account', 'account.id', 'user_session_0.user_id')
      .selectAll('user_session_0')
      .select(['account.username'])
      .select((eb) => lastRefresh(eb).as('last_refresh_at'))
      .select((eb) =>
        eb
          .selectFrom('token_family_0')
          .select(clients.as('uuids'))
          .whereRef('token_family_0.session_id', '=', 'user_session_0.id')
          .whereRef('token_family_0.offline', '=', 'user_session_0.offline')
          .as('client_uuids'),
      )
      .where('user_session_0.offline', '=', slot('offline'))
      .where('user_session_0.id', 'in', (eb) =>
        eb
          .selectFrom('token_family_0')
          .select('session_id')
          .distinct()
          .where('client_uuid', '=', slot('client_uuid'))
          .where('offline', '=', slot('offline'))
          .where('session_id', '>', slot('after'))
          .orderBy('session_id')
          .limit(slot('max'))
          .offset(slot('first')),
      )
      .orderBy('user_session_0.id'),
    'unmoved.countOfClient': db
      .selectFrom('token_family_0')
      .select(sql<number>`count(distinct session_id)`.as('sessions'))
      .where('client_uuid', '=', slot('client_uuid'))
      .where('offline', '=', slot('offline')),
    /** Gives the disk space of the empty tables back, unless they are locked just now, for example by a dump. */
    'unmoved.truncate': {
      compile: () =>
        (dialect === 'sqlite'
          ? sql`delete from user_session_0 where false`
          : sql`
do $$ begin
  lock table token_family_0, user_session_0 in access exclusive mode nowait;
  truncate token_family_0, user_session_0;
exception when lock_not_available then null;
end $$`
        ).compile(db),
    },
  };
}

function lastRefresh(eb: ExpressionBuilder<Tables, 'user_session_0'>) {
  return eb
    .selectFrom('token_family_0')
    .select((inner) => inner.fn.max('last_refresh_at').as('at'))
    .whereRef('token_family_0.session_id', '=', 'user_session_0.id')
    .whereRef('token_family_0.offline', '=', 'user_session_0.offline');
}
