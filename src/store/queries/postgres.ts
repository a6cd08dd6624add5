import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';
import { REPEATS_AFTER_ROTATION, selectFamilies } from './sessions.ts';
import { selectUsers } from './users.ts';

const AMOUNTS = { kind: 'string', owner: 'string', amount: 'number' };

/** The type of each query's rows: the rows of another query, or the type of each column. */
export const POSTGRES_ROWS: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  'family.findAll': 'family.find',
  'user.findAll': 'user.find',
  'client.findAll': 'client.byId',
  'family.rotateAll': { id: 'token_family.id' },
  'family.held': { id: 'token_family.id' },
  'family.takeBackAll': { next: 'token_family.current_hash' },
  'count.fold': { folded: 'number' },
  'count.foldSessions': { folded: 'number' },
  'count.foldSessionsUpTo': AMOUNTS,
  'count.endOfRange': { client: 'string', offline: 'number', session: 'string' },
  'count.range': AMOUNTS,
  'count.lastRange': AMOUNTS,
  'count.keptFamilies': AMOUNTS,
};

/** The keys of token families, as the arguments of `unnest`. */
const KEYS = sql`${slot('session_ids', 'token_family.session_id[]')}::bytea[], ${slot('ids', 'token_family.id[]')}::bytea[]`;

/** Queries that handle many calls in one round trip. */
export function postgresQueries(db: Kysely<Tables>): Record<string, Compilable> {
  return {
    'family.findAll': selectFamilies(db).where(
      sql<boolean>`(token_family.session_id, token_family.id) in (select * from unnest(${KEYS}))`,
    ),
    'user.findAll': selectUsers(db, 'postgres').where(
      sql<boolean>`account.id = any(${slot('ids', 'account.id[]')}::text[])`,
    ),
    'client.findAll': db
      .selectFrom('client')
      .selectAll()
      .where(sql<boolean>`client.id = any(${slot('ids', 'client.id[]')}::text[])`),
    /**
     * Does the work of `family.rotate` and `family.renew` for many token families. Skips families that another
     * transaction has locked, so that no call waits for another session. Removing a realm, for example, locks its
     * families for minutes. The row that was locked is changed at its place in the table, without another search.
     */
    'family.rotateAll': {
      compile: () =>
        sql`
update token_family set
  parent_hash = case when call.single_use then call.presented else parent_hash end,
  parent_uses = case when call.single_use then 1 else parent_uses end,
  current_hash = call.next,
  successor = call.successor,
  repeats = ${sql.raw(REPEATS_AFTER_ROTATION)},
  last_refresh_at = greatest(last_refresh_at, call.now)
from (
  select free.ctid as place, call.* from unnest(${KEYS}, ${slot('presented', 'token_family.current_hash[]')}::bytea[], ${slot('next', 'token_family.current_hash[]')}::bytea[], ${slot('now', 'token_family.last_refresh_at[]')}::bigint[], ${slot('single_use', 'boolean[]')}::bool[], ${slot('successor', 'token_family.successor[]')}::bytea[])
    as call (session_id, id, presented, next, now, single_use, successor)
  join token_family as free on free.session_id = call.session_id and free.id = call.id
  for no key update of free skip locked
) as call
where token_family.ctid = call.place and (not call.single_use or token_family.current_hash = call.presented)
returning token_family.id`.compile(db),
    },
    /** Returns those token families that another transaction has locked. */
    'family.held': {
      compile: () =>
        sql`
with call as materialized (select * from unnest(${KEYS}) as call (session_id, id)),
free as (select token_family.id from token_family join call using (session_id, id) for no key update of token_family skip locked)
select token_family.id from token_family join call using (session_id, id) where token_family.id not in (select id from free)`.compile(
          db,
        ),
    },
    /**
     * Undoes rotations whose new tokens no client received: the presented token becomes valid again and can be used as
     * often as before, and the row of repeated generations is what it was. Does not undo a rotation that a client repeated
     * at another replica, because that client has the new token. Skips token families that another transaction has locked.
     */
    'family.takeBackAll': {
      compile: () =>
        sql`
update token_family set
  current_hash = case when parent_uses = 1 then call.presented else current_hash end,
  parent_hash = case when parent_uses = 1 then null else parent_hash end,
  parent_uses = parent_uses - 1,
  successor = null,
  repeats = case when parent_uses = 1 then repeats + 1 else repeats end
from (
  select free.ctid as place, call.* from unnest(${KEYS}, ${slot('presented', 'token_family.current_hash[]')}::bytea[], ${slot('next', 'token_family.current_hash[]')}::bytea[])
    as call (session_id, id, presented, next)
  join token_family as free on free.session_id = call.session_id and free.id = call.id and free.current_hash = call.next
  for no key update of free skip locked
) as call
where token_family.ctid = call.place
  and token_family.current_hash = call.next and token_family.parent_hash = call.presented
  and coalesce(token_family.repeats, 0) % 2 = 0
returning call.next`.compile(db),
    },
  };
}
