import { type Expression, type Kysely, type Compilable as Query, type RawBuilder, sql } from 'kysely';
import type { AdminEventQuery, EventQuery } from '../contract/index.ts';
import type { Tables } from '../schema.ts';
import { type Compilable, slot, slots } from './define.ts';

const EVENT = ['realm_id', 'time', 'type', 'client_id', 'user_id', 'ip_address', 'doc'] as const;

const ADMIN_EVENT = [
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
    'event.clear': db.deleteFrom('event').where('realm_id', '=', slot('realm_id')),
    'admin_event.insert': db.insertInto('admin_event').values(slots(ADMIN_EVENT)),
    'admin_event.clear': db.deleteFrom('admin_event').where('realm_id', '=', slot('realm_id')),
    figures: db.selectNoFrom((eb) => [
      eb.selectFrom('realm').select(eb.fn.countAll().as('n')).as('realms'),
      withoutServiceAccounts(
        eb.selectFrom('account').select(eb.fn.countAll().as('n')),
        eb
          .selectFrom('account')
          .select(eb.fn.countAll().as('n'))
          .where('service_account_client', 'is not', null),
      ).as('users'),
      eb.selectFrom('user_session').select(eb.fn.countAll().as('n')).as('sessions'),
      eb
        .selectFrom('user_session')
        .select(eb.fn.countAll().as('n'))
        .where('offline', '=', 1)
        .as('offlineSessions'),
      eb.selectFrom('token_family').select(eb.fn.countAll().as('n')).as('tokenFamilies'),
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

/** Selects a page of the user events that match a query, newest first. */
export function eventSearch(
  db: Kysely<Tables>,
  query: EventQuery,
): Query<Pick<Tables['event'], 'doc' | 'time' | 'seq'>> {
  return db
    .selectFrom('event')
    .select(['doc', 'time', 'seq'])
    .where(
      all([
        equals('realm_id', query.realmId),
        within('type', query.types),
        equals('client_id', query.clientId),
        equals('user_id', query.userId),
        equals('ip_address', query.ipAddress),
        between(query),
        before(query),
      ]),
    )
    .orderBy('time', 'desc')
    .orderBy('seq', 'desc')
    .limit(query.max)
    .offset(query.first);
}

/**
 * Selects a page of the events of administrators that match a query, newest first. `*` in `resourcePath` matches any
 * text.
 */
export function adminEventSearch(
  db: Kysely<Tables>,
  query: AdminEventQuery,
): Query<Pick<Tables['admin_event'], 'doc' | 'time' | 'seq'>> {
  const path = query.resourcePath?.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%');
  return db
    .selectFrom('admin_event')
    .select(['doc', 'time', 'seq'])
    .where(
      all([
        equals('realm_id', query.realmId),
        within('operation_type', query.operationTypes),
        within('resource_type', query.resourceTypes),
        path === undefined ? undefined : sql`resource_path like ${path} escape '\\'`,
        equals('auth_realm_id', query.authRealmId),
        equals('auth_client_id', query.authClientId),
        equals('auth_user_id', query.authUserId),
        equals('auth_ip_address', query.authIpAddress),
        between(query),
        before(query),
      ]),
    )
    .orderBy('time', 'desc')
    .orderBy('seq', 'desc')
    .limit(query.max)
    .offset(query.first);
}

type Condition = RawBuilder<unknown> | undefined;

function all(conditions: readonly Condition[]): RawBuilder<boolean> {
  return sql<boolean>`${sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  )}`;
}

function equals(column: string, value: string | undefined): Condition {
  return value === undefined ? undefined : sql`${sql.ref(column)} = ${value}`;
}

function within(column: string, values: readonly string[] | undefined): Condition {
  if (values === undefined || values.length === 0) return undefined;
  return sql`${sql.ref(column)} in (${sql.join(values)})`;
}

function between(query: { from?: number; to?: number }): Condition {
  const from = query.from === undefined ? sql`1 = 1` : sql`time >= ${query.from}`;
  return query.to === undefined ? from : sql`${from} and time <= ${query.to}`;
}

/** Returns a condition for the rows that follow the last row of the previous page. */
function before({ before: last }: { before?: { time: number; seq: number } }): Condition {
  if (last === undefined) return undefined;
  return sql`time <= ${last.time} and (time < ${last.time} or seq < ${last.seq})`;
}
