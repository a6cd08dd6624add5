import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot, slots } from './define.ts';

export const EVENT = ['realm_id', 'time', 'type', 'client_id', 'user_id', 'ip_address', 'doc'] as const;

export const ADMIN_EVENT = [
  'realm_id',
  'time',
  'operation_type',
  'resource_type',
  'resource_path',
  'auth_realm_id',
  'auth_client_id',
  'auth_user_id',
  'auth_ip_address',
  'doc',
] as const;

export function eventQueries(db: Kysely<Tables>): Record<string, Compilable> {
  return {
    'event.insert': db.insertInto('event').values(slots(EVENT)),
    ...oldest(db, 'event', EVENT),
    'admin_event.insert': db.insertInto('admin_event').values(slots(ADMIN_EVENT)),
    ...oldest(db, 'admin_event', ADMIN_EVENT),
    figures: db.selectNoFrom((eb) => [
      eb.selectFrom('realm').select(eb.fn.countAll().as('n')).as('realms'),
      withoutServiceAccounts(
        eb.selectFrom('account').select(eb.fn.countAll().as('n')),
        eb
          .selectFrom('account')
          .select(eb.fn.countAll().as('n'))
          .where('service_account_client', 'is not', null),
      ).as('users'),
      withUnmoved(countAll(eb, 'user_session'), countAll(eb, 'user_session_0')).as('sessions'),
      withUnmoved(
        countAll(eb, 'user_session').where('offline', '=', 1),
        countAll(eb, 'user_session_0').where('offline', '=', 1),
      ).as('offlineSessions'),
      withUnmoved(countAll(eb, 'token_family'), countAll(eb, 'token_family_0')).as('tokenFamilies'),
      eb.selectFrom('authentication_session').select(eb.fn.countAll().as('n')).as('openLogins'),
    ]),
    'realm.userCounts': db
      .selectFrom('realm')
      .leftJoin(
        (eb) =>
          eb
            .selectFrom('account')
            // The expression makes SQLite use the index of service accounts instead of the index of all accounts.
            .select((account) => [
              account.fn.coalesce('realm_id', sql.lit('')).as('realm_id'),
              account.fn.countAll<number>().as('n'),
            ])
            .where('service_account_client', 'is not', null)
            .groupBy((account) => account.fn.coalesce('realm_id', sql.lit('')))
            .as('service'),
        (join) => join.onRef('service.realm_id', '=', 'realm.id'),
      )
      .select('realm.name as realm')
      .select((eb) =>
        withoutServiceAccounts(
          eb
            .selectFrom('account')
            .select(eb.fn.countAll<number>().as('n'))
            .whereRef('account.realm_id', '=', 'realm.id'),
          eb.fn.coalesce('service.n', sql.lit(0)),
        ).as('users'),
      )
      .orderBy('realm.name'),
  };
}

/** What `seq` of a moved event is reduced by, so that it is lower than that of every event in the new table. */
export const MOVED = 1_000_000_000_000;

/** Queries that remove the oldest events of a realm, and those that move events: see `INDEX_EVENTS`. */
function oldest(
  db: Kysely<Tables>,
  table: 'event' | 'admin_event',
  columns: readonly string[],
): Record<string, Compilable> {
  const ofRealm = db
    .deleteFrom(table)
    .where('realm_id', '=', slot('realm_id'))
    .where('time', '>=', slot('from'));
  const before = sql.ref(`${table}_0`);
  const names = sql.raw(columns.join(', '));
  const newest = sql`from ${before} order by seq desc limit ${slot('limit', 'number')}`;
  const raw = (text: RawBuilder<unknown>): Compilable => ({ compile: () => text.compile(db) });
  return {
    /** Returns the event that follows the `limit` oldest ones since `from`. */
    [`${table}.after`]: db
      .selectFrom(table)
      .select(['time', 'seq'])
      .where('realm_id', '=', slot('realm_id'))
      .where('time', '>=', slot('from'))
      .where('time', '<', slot('before'))
      .orderBy('time')
      .orderBy('seq')
      .limit(1)
      .offset(slot('limit')),
    /** Removes the events since `from` that precede this one. */
    [`${table}.deleteBefore`]: ofRealm.where(
      sql<boolean>`(time, seq) < (${slot('time', 'number')}, ${slot('seq', 'number')})`,
    ),
    [`${table}.deleteOlder`]: ofRealm.where('time', '<', slot('before')),
    // Only SQLite runs these.
    [`${table}.move`]: raw(
      sql`insert into ${sql.ref(table)} (seq, ${names}) select seq - ${sql.lit(MOVED)}, ${names} ${newest}`,
    ),
    [`${table}.moved`]: raw(sql`delete from ${before} where seq in (select seq ${newest})`),
    [`${table}.clearUnmoved`]: raw(
      sql`delete from ${before} where seq in (select seq from ${before} where realm_id = ${slot('realm_id', 'event.realm_id')} limit ${slot('limit', 'number')})`,
    ),
  };
}

type SessionTable = 'user_session' | 'user_session_0' | 'token_family' | 'token_family_0';

function countAll(eb: ExpressionBuilder<Tables, never>, table: SessionTable) {
  return eb.selectFrom(table).select(eb.fn.countAll<number>().as('n'));
}

/** Adds the sessions that the background migration `session rows` has not moved yet. */
function withUnmoved(moved: Expression<unknown>, unmoved: Expression<unknown>): RawBuilder<number> {
  return sql<number>`${moved} + ${unmoved}`;
}

/**
 * Returns an expression for the number of users without service accounts. It subtracts two counts that the database
 * reads from indexes, because reading every account would take seconds in a large realm.
 */
export function withoutServiceAccounts(
  all: Expression<unknown>,
  service: Expression<unknown>,
): RawBuilder<number> {
  return sql<number>`${all} - ${service}`;
}
