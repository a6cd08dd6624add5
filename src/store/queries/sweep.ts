import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Maximum number of due records that the metrics count. */
const COUNTED = 1_000;

/**
 * Queries that remove expired records, at most `limit` rows each. On Postgres they skip rows that other transactions
 * have locked: neither waits for the other, and several stores can remove records in parallel. A row that changes
 * between the search and its lock is checked again with its new values, so these transactions need no stronger
 * isolation than read committed.
 */
export function sweepQueries(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const isPostgres = dialect === 'postgres';
  const skipLocked = (table: string) => sql.raw(isPostgres ? `for update of ${table} skip locked` : '');
  const raw = (text: RawBuilder<unknown>): Compilable => ({ compile: () => text.compile(db) });
  // On Postgres, an array makes sure that the subquery runs only once.
  const among = (rows: RawBuilder<unknown>) => (isPostgres ? sql`= any(array(${rows}))` : sql`in (${rows})`);
  const expired = (table: string, key: string, before: RawBuilder<unknown>) =>
    raw(sql`
delete from ${sql.ref(table)} where ${sql.ref(key)} ${among(sql`
  select ${sql.ref(key)} from ${sql.ref(table)} where ${before}
  limit ${slot('limit', 'number')} ${skipLocked(table)}`)}`);
  const at = (name: string) => sql`expires_at <= ${slot(name, 'number')} order by expires_at`;

  const session = {
    ids: isPostgres
      ? sql`= any(${slot('ids', 'user_session.id[]')}::bytea[])`
      : sql`in (select unhex(value) from json_each(${slot('ids', 'user_session.id[]')}))`,
    offline: slot('offline', 'user_session.offline'),
  };
  const families = sql`token_family where session_id = user_session.id and token_family.offline = user_session.offline`;
  const [least, greatest] = isPostgres ? ['least', 'greatest'] : ['min', 'max'];
  const idle = sql`
  session_id ${session.ids} and offline = ${session.offline} and last_refresh_at <= ${slot('before', 'number')}`;

  const due = (kind: string, table: string, column: string, limit: string, unit: number) => {
    const [name, last] = [sql.ref(column), slot(limit, 'number')];
    const found = sql`from ${sql.ref(table)} where ${name} <= ${last}`;
    return sql`select ${sql.lit(kind)} as due_kind,
  (select count(*) from (select 1 ${found} limit ${sql.lit(COUNTED)}) as counted) as records,
  (select min(${name}) ${found}) * ${sql.lit(unit)} as oldest`;
  };

  // Each realm reads its range of an index. `kept` is a JSON array of realms, each with the first time in milliseconds
  // that it keeps, and with the time before which it has no events any more.
  const oldEvents = (table: string) => {
    const [list, of] = [slot(`kept_${table}s`, 'string'), sql.ref(table)];
    const kept = isPostgres
      ? sql`json_to_recordset(${list}::json) as kept(realm_id text, since bigint, gone bigint)`
      : sql`(select value ->> 'realm_id' as realm_id, value ->> 'since' as since, value ->> 'gone' as gone from json_each(${list})) as kept`;
    return { kept, old: sql`${of} where ${of}.realm_id = kept.realm_id and time >= gone and time < since` };
  };
  const realmsWithOldEvents = (table: string) => {
    const { kept, old } = oldEvents(table);
    // The order and the limit make sure that Postgres reads an index once for each realm.
    const first = sql`(select time from ${old} order by time limit 1)`;
    return sql`select ${sql.lit(table)} as kind, kept.realm_id as owner from ${kept} where ${first} is not null`;
  };
  const dueEvents = (kind: string, table: string) => {
    const { kept, old } = oldEvents(table);
    const counted = sql.lit(COUNTED);
    const due = isPostgres
      ? sql`${kept} cross join lateral (select from ${old} order by time limit ${counted}) as old`
      : sql`${kept} cross join ${old}`;
    return sql`select ${sql.lit(kind)} as event_kind,
  (select count(*) from (select 1 from ${due} limit ${counted}) as counted) as records,
  (select max(since - (select min(time) from ${old})) from ${kept}) as overdue`;
  };

  return {
    /** Counts the due records of each kind, up to `COUNTED`, and returns when the oldest one became due. */
    'sweep.backlog': raw(
      sql.join(
        [
          due('sessions', 'user_session', 'look_again', 'hour', 3600),
          due('logins', 'authentication_session', 'expires_at', 'now', 1),
          due('codes', 'authorization_code', 'expires_at', 'before', 1),
          due('claims', 'claim', 'expires_at', 'now', 1),
          due('revocations', 'revoked_token', 'expires_at', 'now', 1),
        ],
        sql` union all `,
      ),
    ),
    /** Counts the events that their realms no longer keep, and returns the milliseconds for which the oldest is due. */
    'sweep.eventBacklog': raw(
      sql.join([dueEvents('events', 'event'), dueEvents('adminEvents', 'admin_event')], sql` union all `),
    ),
    /** Selects the realms with events that they no longer keep. */
    'sweep.realmsWithOldEvents': raw(
      sql.join([realmsWithOldEvents('event'), realmsWithOldEvents('admin_event')], sql` union all `),
    ),
    /** Locks sessions that are due, so that no token family can start in them until the slice ends. */
    'sweep.due': raw(sql`
select user_session.id, offline, realm_id, started_at, last_access_at
from user_session join account on account.id = user_session.user_id
where look_again <= ${slot('hour', 'user_session.look_again')}
order by look_again limit ${slot('limit', 'number')} ${skipLocked('user_session')}`),
    /** Removes those token families of sessions that nobody has used since `before`. */
    'sweep.families': raw(
      isPostgres
        ? sql`
delete from token_family where ctid = any(array(select ctid from token_family where ${idle} for update skip locked))`
        : sql`delete from token_family where ${idle}`,
    ),
    /** Removes those sessions of which no token family was used after `before`, with all of their families. */
    'sweep.sessions': raw(sql`
delete from user_session where id ${session.ids} and offline = ${session.offline}
  and not exists (select 1 from ${families} and last_refresh_at > ${slot('before', 'number')})`),
    /** Postpones the next check of sessions to the hour after their latest possible end. */
    'sweep.later': raw(sql`
update user_session set look_again = kept.ends_at / 3600 + 1
from (
  select id, ${sql.raw(least)}(
    ${sql.raw(greatest)}(last_access_at, coalesce((select max(last_refresh_at) from ${families}), 0)) + ${slot('idle', 'number')},
    started_at + ${slot('longest', 'number')}) as ends_at
  from user_session where id ${session.ids} and offline = ${session.offline}
) as kept
where user_session.id = kept.id and user_session.offline = ${session.offline} and kept.ends_at > ${slot('now', 'number')}`),
    'sweep.authentications': expired('authentication_session', 'id', at('now')),
    'sweep.codes': expired('authorization_code', 'hash', at('before')),
    'sweep.claims': expired('claim', 'name', at('now')),
    'sweep.revoked': expired('revoked_token', 'jti', at('now')),
  };
}
