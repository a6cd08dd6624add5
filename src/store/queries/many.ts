import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';

/** Number of dependent records up to which one transaction removes a record with all of them. */
const MANY = 500;

/** Queries that remove any number of records in slices. */
export function manyQueries(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Record<string, Compilable> {
  const raw = (text: RawBuilder<unknown>): Compilable => ({ compile: () => text.compile(db) });
  const among = (slotOfIds: unknown) =>
    dialect === 'sqlite'
      ? sql`in (select value from json_each(${slotOfIds}))`
      : sql`= any(${slotOfIds}::text[])`;
  const users = among(slot('user_ids', 'account.id[]'));
  const realm = sql`realm_id = ${slot('realm_id', 'account.realm_id')}`;
  const one = sql`limit 1 offset ${sql.lit(MANY)}`;
  const client = sql`client_uuid = ${slot('client_uuid', 'token_family.client_uuid')}`;
  const upTo = sql`(offline, session_id) <= (${slot('offline', 'number')}, ${slot('session_id', 'token_family.session_id')})`;
  const greatest = sql.raw(dialect === 'sqlite' ? 'max' : 'greatest');
  return {
    // Each returns a row if a record has more dependent records than one transaction removes.
    'many.sessions': raw(
      sql`select id from user_session where user_id = ${slot('user_id', 'account.id')} and offline <= ${slot('offline', 'number')} ${one}`,
    ),
    'many.families': raw(sql`select session_id from token_family where ${client} ${one}`),
    'many.users': raw(sql`select id from account where ${realm} ${one}`),
    'many.events': raw(sql`select seq from event where ${realm} ${one}`),
    'many.adminEvents': raw(sql`select seq from admin_event where ${realm} ${one}`),
    'many.sessionsOfRealm': raw(
      sql`select user_session.id from account join user_session on user_session.user_id = account.id where ${realm} ${one}`,
    ),
    'slice.users': raw(
      sql`select id from account where ${realm} and id > ${slot('after', 'account.id')} order by id limit ${slot('limit', 'number')}`,
    ),
    'slice.deleteUsers': raw(sql`delete from account where id ${users}`),
    // On Postgres, another transaction may be removing some of these sessions. The lock makes the search wait for it and
    // find others in their place. So fewer than `limit` rows always mean that no session is left.
    'slice.deleteSessions': raw(sql`
delete from user_session where (id, offline) in (
  select id, offline from user_session
  where user_id ${users} and offline <= ${slot('offline', 'number')} limit ${slot('limit', 'number')}${sql.raw(
    dialect === 'postgres' ? ' for update' : '',
  )})`),
    /** Returns the token family that follows the first ones of a client. */
    'slice.families': raw(
      sql`select offline, session_id from token_family where ${client} order by offline, session_id limit 1 offset ${slot('limit', 'number')}`,
    ),
    /** Copies the last use of the client's token families, up to this one, to their sessions. */
    'slice.touchSessions': raw(sql`
update user_session set last_access_at = ${greatest}(user_session.last_access_at, used.at)
from (
  select session_id, offline, max(last_refresh_at) as at from token_family
  where ${client} and ${upTo} group by session_id, offline
) as used
where user_session.id = used.session_id and user_session.offline = used.offline`),
    'slice.deleteFamilies': raw(sql`delete from token_family where ${client} and ${upTo}`),
  };
}
