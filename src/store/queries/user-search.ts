import { type Kysely, type Compilable as Query, type RawBuilder, sql } from 'kysely';
import type { UserQuery } from '../contract/index.ts';
import type { Tables } from '../schema.ts';
import type { RowOf } from './compiled/types.ts';
import { withoutServiceAccounts } from './events.ts';
import { selectUsers } from './users.ts';

/** Reports whether a query selects all users of a realm except service accounts. */
export function selectsAll(dialect: 'sqlite' | 'postgres', query: UserQuery): boolean {
  return conditions(dialect, query).length === 0;
}

/**
 * Selects a page of the users that match a query, sorted by username. It selects their ids first, so that the roles and
 * groups of skipped users are not read.
 */
export function userSearch(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  query: UserQuery,
): Query<RowOf<'user.find'>> {
  let ids = db
    .selectFrom('account')
    .select(['account.id', 'account.username'])
    .where(matches(dialect, query))
    .orderBy('account.username');
  if (query.max !== undefined) ids = ids.limit(query.max);
  else if (query.first !== undefined && dialect === 'sqlite') ids = ids.limit(-1);
  if (query.first !== undefined) ids = ids.offset(query.first);
  if (query.after !== undefined) ids = ids.where('account.username', '>', query.after);
  return selectUsers(db, dialect).innerJoin(ids.as('page'), 'page.id', 'account.id').orderBy('page.username');
}

/** Counts the users that match a query. Counting a whole realm reads only indexes. */
export function userCount(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  query: UserQuery,
): Query<{ users: number }> {
  if (selectsAll(dialect, query)) return realmUserCount(db, query.realmId);
  return db
    .selectFrom('account')
    .select((eb) => eb.fn.countAll<number>().as('users'))
    .where(matches(dialect, query));
}

function realmUserCount(db: Kysely<Tables>, realmId: string): Query<{ users: number }> {
  return db.selectNoFrom((eb) => {
    const accounts = eb.selectFrom('account').select(eb.fn.countAll<number>().as('n'));
    return withoutServiceAccounts(
      accounts.where('realm_id', '=', realmId),
      accounts
        .where('service_account_client', 'is not', null)
        // The expression makes the database use the index of service accounts instead of the index of all accounts.
        .where(sql`coalesce(${sql.ref('realm_id')}, '')`, '=', realmId),
    ).as('users');
  });
}

const NAMES = ['username', 'email', 'first_name', 'last_name'] as const;

function matches(dialect: 'sqlite' | 'postgres', query: UserQuery): RawBuilder<boolean> {
  const all = [
    sql`account.realm_id = ${query.realmId}`,
    sql`account.service_account_client is null`,
    ...conditions(dialect, query),
  ];
  return sql<boolean>`${sql.join(all, sql` and `)}`;
}

/** Returns a condition for each filter of a query. */
function conditions(dialect: 'sqlite' | 'postgres', query: UserQuery): readonly RawBuilder<unknown>[] {
  const all: RawBuilder<unknown>[] = [];
  for (const word of searchWords(query.search)) {
    const any = NAMES.map((name) => compare(name, word.pattern, word.exact));
    all.push(sql`(${sql.join(any, sql` or `)})`);
  }
  const fields = {
    username: query.username,
    email: query.email,
    first_name: query.firstName,
    last_name: query.lastName,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const text = value.toLowerCase();
    all.push(compare(name, query.exact ? text : `%${escapeLike(text)}%`, query.exact === true));
  }
  if (query.emailVerified !== undefined)
    all.push(sql`account.email_verified = ${query.emailVerified ? 1 : 0}`);
  if (query.enabled !== undefined) all.push(sql`account.enabled = ${query.enabled ? 1 : 0}`);
  for (const [name, value] of Object.entries(query.attributes ?? {}))
    all.push(hasAttribute(dialect, name, value));
  return all;
}

function compare(column: string, value: string, exact: boolean): RawBuilder<unknown> {
  const field = sql.ref(`account.${column}`);
  return exact ? sql`${field} = ${value}` : sql`${field} like ${value} escape '\\'`;
}

function hasAttribute(dialect: 'sqlite' | 'postgres', name: string, value: string): RawBuilder<unknown> {
  return dialect === 'sqlite'
    ? sql`exists (select 1 from json_each(account.doc, '$.attributes') as attribute, json_each(attribute.value) as entry where attribute.key = ${name} and entry.value = ${value})`
    : sql`case when position('\\u0000' in account.doc) > 0 then false else exists (select 1 from json_array_elements(account.doc::json -> 'attributes' -> ${name}) as entry where entry::text = ${JSON.stringify(value)}) end`;
}

/**
 * Splits a search into words. A word is `"exact"`, contains wildcards (`in*fix`) or is a prefix
 * (docs/keycloak/users.md#search).
 */
function searchWords(search: string | undefined): { pattern: string; exact: boolean }[] {
  const words = (search ?? '').toLowerCase().match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => {
    if (word.length >= 2 && word.startsWith('"') && word.endsWith('"'))
      return { pattern: word.slice(1, -1), exact: true };
    const pattern = escapeLike(word).replaceAll('*', '%');
    return { pattern: word.endsWith('*') ? pattern : `${pattern}%`, exact: false };
  });
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
