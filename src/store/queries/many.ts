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
  const consentsOf = sql`client_uuid = ${slot('client_uuid', 'user_consent.client_uuid')}`;
  const serviceAccounts = sql`service_account_client = ${slot('client_uuid', 'account.service_account_client')}`;
  /** The group and its subgroups. */
  const subtree = sql`with recursive tree (id) as (
  select id from realm_group where id = ${slot('id', 'realm_group.id')}
  union select realm_group.id from tree join realm_group on realm_group.parent_id = tree.id)`;
  // On Postgres, another transaction may be removing some of the rows. The lock makes the search wait for it and find
  // others in their place. So fewer than `limit` rows always mean that no row is left.
  const firstRows = sql`limit ${slot('limit', 'number')}${sql.raw(dialect === 'postgres' ? ' for update' : '')}`;
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
    'many.consents': raw(sql`select user_id from user_consent where ${consentsOf} ${one}`),
    'many.serviceAccountSessions': raw(
      sql`select user_session.id from account join user_session on user_session.user_id = account.id where ${serviceAccounts} ${one}`,
    ),
    'many.usersOfClientRoles': raw(
      sql`select user_id from role join user_role on user_role.role_id = role.id where role.client_uuid = ${slot('client_uuid', 'role.client_uuid')} ${one}`,
    ),
    'many.usersOfRole': raw(
      sql`select user_id from user_role where role_id = ${slot('id', 'user_role.role_id')} ${one}`,
    ),
    'many.members': raw(
      sql`${subtree} select user_id from user_group where group_id in (select id from tree) ${one}`,
    ),
    'many.failures': raw(sql`select user_id from login_failures where ${realm} ${one}`),
    'slice.subtree': raw(sql`${subtree} select id from tree`),
    'slice.serviceAccounts': raw(sql`select id from account where ${serviceAccounts}`),
    'slice.deleteConsents': raw(sql`
delete from user_consent where ${consentsOf} and user_id in (
  select user_id from user_consent where ${consentsOf} ${firstRows})`),
    'slice.deleteUsersOfRoles': raw(sql`
delete from user_role where (user_id, role_id) in (
  select user_id, role_id from user_role where role_id ${among(slot('role_ids', 'role.id[]'))} ${firstRows})`),
    'slice.deleteMembers': raw(sql`
delete from user_group where (user_id, group_id) in (
  select user_id, group_id from user_group where group_id ${among(slot('group_ids', 'realm_group.id[]'))} ${firstRows})`),
    'slice.deleteFailures': raw(sql`
delete from login_failures where ${realm} and user_id in (
  select user_id from login_failures where ${realm} ${firstRows})`),
    'slice.users': raw(
      sql`select id from account where ${realm} and id > ${slot('after', 'account.id')} order by id limit ${slot('limit', 'number')}`,
    ),
    'slice.deleteUsers': raw(sql`delete from account where id ${users}`),
    'slice.deleteSessions': raw(sql`
delete from user_session where (id, offline) in (
  select id, offline from user_session
  where user_id ${users} and offline <= ${slot('offline', 'number')} ${firstRows})`),
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
