import { type Kysely, type Compilable as Query, type RawBuilder, sql } from 'kysely';
import type { UserQuery } from '../contract/index.ts';
import {
  KEY_BITS,
  LONG_DOCUMENT,
  LONG_NAMES,
  PAIR,
  POSTGRES_ATTRIBUTES,
  POSTGRES_TRIGRAMS,
  POSTGRES_UNUSUAL,
  POSTGRES_USUAL,
  searchKeyOf,
} from '../migrations/user-search.ts';
import type { Tables } from '../schema.ts';
import type { RowOf } from './compiled/types.ts';
import { withoutServiceAccounts } from './events.ts';
import { type Attributes, filtersOf, flags, isNarrowed, planSearch } from './search-plan.ts';
import { type NameFilter, trigramsOf } from './search-words.ts';
import { selectListedUsers, selectUsers } from './users.ts';

/**
 * How a search finds its users.
 *
 * - `all`: compares every user of the realm, in the order of usernames. Needs no search index.
 * - `order`: as `all`, but ends after a number of users. Default: all of them. On SQLite, it reads the names of the
 *   search index, which takes less time than reading the users.
 * - `index`: compares the users that the search index finds, which are few if a word is rare. If the index excludes no
 *   user, this way is the same as `order`.
 * - `exact`: finds a whole username or e-mail address. Needs no search index.
 */
export type SearchWay = { by: 'all' | 'index' | 'exact' } | { by: 'order'; users?: number };

/** A user that a search finds. `size` is the length of the document in bytes. */
export interface FoundUser {
  id: string;
  username: string;
  size: number;
}

type Dialect = 'sqlite' | 'postgres';

/** Selects a page of the users that match a query, with their roles and groups, sorted by username. */
export function userSearch(
  db: Kysely<Tables>,
  dialect: Dialect,
  query: UserQuery,
  way: SearchWay = { by: 'all' },
): Query<RowOf<'user.find'>> {
  const page = matchingIds(dialect, query, way).as('page');
  return selectUsers(db, dialect)
    .innerJoin(page, (join) => join.onRef('page.id', '=', 'account.id'))
    .orderBy('page.username');
}

/** As `userSearch`, but selects only what is needed to decide how many users to read. */
export function foundUsers(
  db: Kysely<Tables>,
  dialect: Dialect,
  query: UserQuery,
  way: SearchWay,
): Query<FoundUser> {
  const found = sql<FoundUser>`
    select page.id, page.username, octet_length(account.doc) as size
    from ${matchingIds(dialect, query, way)} as page join account on account.id = page.id order by page.username`;
  return { compile: () => found.compile(db) };
}

/** Selects the columns of users that a list shows, sorted by username. */
export function listedUsers(
  db: Kysely<Tables>,
  dialect: Dialect,
  ids: readonly string[],
  withOtp: boolean,
): Query<RowOf<'user.listed'>> {
  // The last id is repeated, so that there are only a few statements.
  const count = 2 ** Math.ceil(Math.log2(ids.length));
  const padded = Array.from({ length: count }, (_, index) => ids[Math.min(index, ids.length - 1)]!);
  return selectListedUsers(db, dialect, sql.lit(withOtp ? 1 : 0))
    .where('account.id', 'in', padded)
    .orderBy('account.username');
}

/** Selects only the ids of a page, so that the links and credentials of skipped users are not read. */
function matchingIds(
  dialect: Dialect,
  query: UserQuery,
  wanted: SearchWay,
): RawBuilder<{ id: string; username: string }> {
  const way = possible(dialect, query, wanted);
  return sql`(
    select account.id, account.username from ${candidates(dialect, query, way)}
    order by ${orderOf(dialect, way)}${range(dialect, query)})`;
}

/** Returns the way, or the way `order` if the search index excludes no user. */
function possible(dialect: Dialect, query: UserQuery, way: SearchWay): SearchWay {
  return way.by === 'index' && !isNarrowed(query, dialect) ? { by: 'order' } : way;
}

/** Counts the users that match a query. Counting a whole realm reads only indexes. */
export function userCount(
  db: Kysely<Tables>,
  dialect: Dialect,
  query: UserQuery,
  way: SearchWay = { by: 'all' },
): Query<{ users: number }> {
  if (planSearch(query).selectsAll) return realmUserCount(db, query.realmId);
  const found = candidates(dialect, query, possible(dialect, query, way));
  const count = sql<{ users: number }>`select count(*) as users from ${found}`;
  return { compile: () => count.compile(db) };
}

/** Counts the matches among some users, which shows how common the words of a search are. */
export function userSample(
  db: Kysely<Tables>,
  dialect: Dialect,
  query: UserQuery,
  users: number,
): Query<{ users: number; matches: number }> {
  const { names, attributes } = filtersOf(query);
  const [from, table] =
    dialect === 'sqlite'
      ? [
          sql`(select account.* from search_realm as realm cross join search_user as account
            where realm.realm_id = ${query.realmId} and ${inRealm('account.key')}
            order by account.key limit ${users}) as account`,
          'search_user' as const,
        ]
      : [
          // The ids are random, so that these users are a fair sample.
          sql`(select * from account where account.realm_id = ${query.realmId}
            and account.service_account_client is null order by account.id limit ${users}) as account`,
          'account' as const,
        ];
  const all = [...names.map(compare), ...ofAccount(dialect, table, query, attributes)];
  const matches = sql`sum(case when ${allOf(all)} then 1 else 0 end)`;
  const sample = sql<{ users: number; matches: number }>`
    select count(*) as users, coalesce(${matches}, 0) as matches from ${from}`;
  return { compile: () => sample.compile(db) };
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

type Condition = RawBuilder<unknown>;
function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 1` : sql.join(conditions, sql` and `);
}

/** Returns the condition that a key of the search index of SQLite belongs to the realm in the table `realm`. */
function inRealm(key: string): Condition {
  const bits = sql.lit(KEY_BITS);
  return sql`${sql.ref(key)} > realm.number << ${bits} and ${sql.ref(key)} < (realm.number + 1) << ${bits}`;
}

/**
 * Returns the users that match, as the table `account`, and the condition: `… where …`. Their order has no index if
 * they are few, because the database would otherwise read all users in that order.
 */
function candidates(dialect: Dialect, query: UserQuery, way: SearchWay): Condition {
  const { names, attributes } = filtersOf(query);
  const table =
    dialect === 'sqlite' && (way.by === 'index' || way.by === 'order') ? 'search_user' : 'account';
  const few = way.by === 'index' || way.by === 'exact';
  const username = orderOf(dialect, way);
  const realm =
    table === 'account'
      ? [sql`account.realm_id = ${query.realmId}`, sql`account.service_account_client is null`]
      : [
          sql`${few ? sql`+` : sql``}account.realm = (select number from search_realm where realm_id = ${query.realmId})`,
        ];
  const place = [...realm, ...(query.after === undefined ? [] : [sql`${username} > ${query.after}`])];
  const compared = [...names.map(compare), ...ofAccount(dialect, table, query, attributes)];
  if (dialect === 'sqlite') {
    const found = way.by === 'index' ? foundBySqlite(query.realmId, names, attributes) : [];
    const until =
      way.by === 'order' && way.users !== undefined
        ? [sql`account.username <= ${lastOf(place, way.users)}`]
        : [];
    return sql`${sql.table(table)} as account where ${allOf([...place, ...until, ...found, ...compared])}`;
  }
  if (way.by === 'order' && way.users !== undefined)
    return sql`(select * from account where ${allOf(place)} order by account.username limit ${way.users}) as account
      where ${allOf(compared)}`;
  if (!few) return sql`account where ${allOf([...place, ...compared])}`;
  const found = way.by === 'index' ? foundByPostgres(query.realmId, names, attributes) : [];
  return sql`(select * from account where ${allOf([...place, ...found, ...compared])} offset 0) as account where true`;
}

/** Returns the username of the last of some users on SQLite, or a value that is greater than every text. */
function lastOf(place: readonly Condition[], users: number): Condition {
  return sql`coalesce((select account.username from search_user as account where ${allOf(place)}
    order by account.username limit 1 offset ${users - 1}), x'ff')`;
}

/** Returns the username as an expression. The sign keeps SQLite from reading an index in this order. */
function orderOf(dialect: Dialect, way: SearchWay): Condition {
  const few = way.by === 'index' || way.by === 'exact';
  return dialect === 'sqlite' && few ? sql`+account.username` : sql`account.username`;
}

function range(dialect: Dialect, { first, max }: UserQuery): Condition {
  const limit = max === undefined && dialect === 'postgres' ? sql`` : sql` limit ${max ?? -1}`;
  return first === undefined ? limit : sql`${limit} offset ${first}`;
}

/** Returns conditions that the search index of SQLite fulfils for every match, and for some other users. */
function foundBySqlite(realmId: string, names: readonly NameFilter[], attributes: Attributes): Condition[] {
  const within = (index: string, words: Condition) =>
    sql`account.key in (select ${sql.ref(`${index}.rowid`)} from search_realm as realm cross join ${sql.table(index)}
      where realm.realm_id = ${realmId} and ${sql.table(index)} match ${words} and ${inRealm(`${index}.rowid`)})`;
  const trigrams = trigramsOf(names, true).map((trigram) => `"${trigram.replaceAll('"', '""')}"`);
  return [
    ...(trigrams.length === 0
      ? []
      : [within('search_trigram', sql`${`(${trigrams.join(' ')}) OR "${LONG_NAMES}"`}`)]),
    ...attributes.map(([name, value]) =>
      within(
        'search_attribute',
        sql`(select '"' || ${sql.raw(PAIR('pair.name', 'pair.value'))} || '" OR ${sql.raw(LONG_DOCUMENT)}' from (select ${name} as name, ${value} as value) as pair)`,
      ),
    ),
  ];
}

/** Returns conditions that the search indexes of Postgres fulfil for every match, and for some other users. */
function foundByPostgres(realmId: string, names: readonly NameFilter[], attributes: Attributes): Condition[] {
  const trigrams = trigramsOf(names, false).map((trigram) => sql`${searchKeyOf(realmId) + trigram}`);
  const found =
    trigrams.length === 0 ? [] : [sql`${sql.raw(POSTGRES_TRIGRAMS)} @> array[${sql.join(trigrams)}]::text[]`];
  if (attributes.length === 0) return found;
  const usual = attributes.flat().every((text) => text.isWellFormed() && !text.includes('\0'));
  const document = JSON.stringify({
    [realmId]: Object.fromEntries(attributes.map(([name, value]) => [name, [value]])),
  });
  const unusual = sql`${sql.raw(POSTGRES_UNUSUAL)} and account.realm_id = ${realmId}`;
  return [
    ...found,
    usual
      ? sql`(${sql.raw(POSTGRES_USUAL)} and ${sql.raw(POSTGRES_ATTRIBUTES)} @> ${document}::jsonb or ${unusual})`
      : unusual,
  ];
}

/** Returns the conditions on columns that only the table `account` has. */
function ofAccount(
  dialect: Dialect,
  table: 'account' | 'search_user',
  query: UserQuery,
  attributes: Attributes,
): Condition[] {
  const conditions = (name: string) => [
    ...flags(query).map(([flag, value]) => sql`${sql.ref(`${name}.${flag}`)} = ${value ? 1 : 0}`),
    ...attributes.map(([key, value]) => hasAttribute(dialect, sql.ref(`${name}.doc`), key, value)),
  ];
  if (table === 'account') return conditions('account');
  const all = conditions('whole');
  if (all.length === 0) return [];
  return [sql`exists (select 1 from account as whole where whole.id = account.id and ${allOf(all)})`];
}

function compare({ columns, pattern, exact }: NameFilter): Condition {
  const any = columns.map((column) => {
    const field = sql.ref(`account.${column}`);
    return exact ? sql`${field} = ${pattern}` : sql`${field} like ${pattern} escape '\\'`;
  });
  return sql`(${sql.join(any, sql` or `)})`;
}

/**
 * Returns the condition that a document has an attribute value. A search of its text excludes most documents, which is
 * faster than reading their JSON.
 */
function hasAttribute(dialect: Dialect, doc: Condition, name: string, value: string): Condition {
  const text = JSON.stringify(value);
  // SQLite ends a text of a document at a NUL, so that a longer text can have this value.
  return dialect === 'sqlite'
    ? sql`(instr(${doc}, ${text}) > 0 or instr(${doc}, '\\u') > 0) and exists (select 1 from json_each(${doc}, '$.attributes') as attribute, json_each(attribute.value) as entry where attribute.key = ${name} and entry.value = ${value})`
    : sql`strpos(${doc}, ${text}) > 0 and case when position('\\u0000' in ${doc}) > 0 then false else exists (select 1 from json_array_elements(${doc}::json -> 'attributes' -> ${name}) as entry where entry::text = ${text}) end`;
}
