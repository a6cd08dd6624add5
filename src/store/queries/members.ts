import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../schema.ts';
import { type Compilable, slot } from './define.ts';
import { selectUsers } from './users.ts';

/** The queries of the links between users and their roles and groups. */
export function memberQueries(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
): Record<string, Compilable> {
  return {
    ...membersOf(db, dialect, { list: 'user.withRole', table: 'user_role', column: 'role_id', of: 'role' }),
    ...membersOf(db, dialect, {
      list: 'user.inGroup',
      table: 'user_group',
      column: 'group_id',
      of: 'realm_group',
    }),
    'user_role.add': db
      .insertInto('user_role')
      .values({
        user_id: slot('user_id'),
        role_id: slot('role_id'),
        username: usernameOf(slot('user_id', 'account.id')),
      })
      .onConflict((conflict) => conflict.doNothing()),
    'user_role.delete': db
      .deleteFrom('user_role')
      .where('user_id', '=', slot('user_id'))
      .where('role_id', '=', slot('role_id')),
    'user_role.clear': db.deleteFrom('user_role').where('user_id', '=', slot('user_id')),
    'user_role.deleteRole': db.deleteFrom('user_role').where('role_id', '=', slot('role_id')),
    'user_group.add': db
      .insertInto('user_group')
      .values({
        user_id: slot('user_id'),
        group_id: slot('group_id'),
        username: usernameOf(slot('user_id', 'account.id')),
      })
      .onConflict((conflict) => conflict.doNothing()),
    'user_group.delete': db
      .deleteFrom('user_group')
      .where('user_id', '=', slot('user_id'))
      .where('group_id', '=', slot('group_id')),
    'user_group.clear': db.deleteFrom('user_group').where('user_id', '=', slot('user_id')),
    'user_group.deleteGroup': db.deleteFrom('user_group').where('group_id', '=', slot('group_id')),
  };
}

function usernameOf(userId: unknown): RawBuilder<string | null> {
  return sql`(select username from account where id = ${userId})`;
}

/** A role or group with at least this many users counts as common. */
const COMMON = 10_000;

/**
 * Selects pages of the users who have a role or are in a group, sorted by username, which an index of the links
 * contains. Links that an older version stored have no username until the background migration `usernames of members`
 * has finished. Until then, one query sorts the members, and `inOrder` checks every user in the order of usernames.
 */
function membersOf(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  { list, table, column, of }: Record<'list' | 'table' | 'column' | 'of', string>,
): Record<string, Compilable> {
  const users = selectUsers(db, dialect);
  const [link, key] = [sql.table(table), sql.ref(column)];
  const id = () => slot('id', `${of}.id`);
  const after = () => slot('after', 'account.username');
  const page = users
    .where('account.username', '>', slot('after'))
    .orderBy('account.username')
    .limit(slot('max'))
    .offset(slot('first'));
  const [max, first] = [() => slot('max', 'number'), () => slot('first', 'number')];
  return {
    [`${list}.sorted`]: page.where(
      sql<boolean>`account.id in (select user_id from ${link} where ${key} = ${id()})`,
    ),
    [`${list}.inOrder`]: page.where(
      sql<boolean>`account.realm_id = (select realm_id from ${sql.table(of)} where id = ${id()})
        and exists (select 1 from ${link} where user_id = account.id and ${key} = ${id()})`,
    ),
    [`${list}.isCommon`]: {
      compile: () =>
        sql`select case when count(*) >= ${sql.lit(COMMON)} then 1 else 0 end as common
from (select 1 from ${link} where ${key} = ${id()} limit ${sql.lit(COMMON)}) as some_of_them`.compile(db),
    },
    [list]: users
      .innerJoin(
        sql<{
          user_id: string;
          username: string;
        }>`(select user_id, username from ${link} where ${key} = ${id()}
          and username > ${after()} order by username limit ${max()} offset ${first()})`.as('page'),
        'page.user_id',
        'account.id',
      )
      .orderBy('page.username'),
    // Reads only an index.
    [`${list}.skip`]: {
      compile: () =>
        sql`select username as passed from ${link} where ${key} = ${id()} and username > ${after()}
order by username limit 1 offset ${first()}`.compile(db),
    },
    [`${table}.unnamed`]: {
      compile: () =>
        sql`select max(user_id) as last_id, count(*) as links
from (select user_id from ${link} where user_id > ${slot('after_id', 'account.id')} order by user_id limit ${max()}) as next`.compile(
          db,
        ),
    },
    [`${table}.name`]: {
      compile: () =>
        sql`update ${link} set username = (select username from account where id = user_id)
where user_id > ${slot('after_id', 'account.id')} and user_id <= ${slot('last_id', 'account.id')} and username is null`.compile(
          db,
        ),
    },
  };
}
