import { all, run } from '../verbs/steps.ts';
import type { BackgroundMigration } from './background.ts';

// The search index of users. Both databases index trigrams, the sequences of three characters in the names of a user.
// Two characters 2 come before each value and one character 3 after it, so that the beginning and the end of a value
// have trigrams of their own. Every value that matches a search contains the trigrams of the search. The reverse is not
// true, so that a search compares the names of the users that it finds in the index.

/** The names of a user, except the two characters at the beginning. */
const NAMES = [
  "username || chr(3) || chr(2) || chr(2) || coalesce(email, '')",
  "chr(3) || chr(2) || chr(2) || coalesce(first_name, '')",
  "chr(3) || chr(2) || chr(2) || coalesce(last_name, '') || chr(3)",
].join(' || ');

/** The end of the realm's id, which begins every trigram, so that a search in one realm reads only its trigrams. */
const REALM = "right(regexp_replace(realm_id, '[^0-9A-Za-z]', '', 'g'), 8)";

/** Returns the value of `REALM` for a realm. */
export function searchKeyOf(realmId: string): string {
  return realmId.replaceAll(/[^0-9A-Za-z]/g, '').slice(-8);
}

const every3 = (text: string) => `regexp_replace(${text}, '(...)', ${REALM} || '\\1' || chr(1), 'g')`;

/**
 * The trigrams of a user on Postgres. Only functions of the server are used, because the extension `pg_trgm` needs a
 * right that the service may not have, depends on the locale, and cannot separate realms.
 */
export const POSTGRES_TRIGRAMS = `string_to_array(${[
  every3(`chr(2) || chr(2) || ${NAMES}`),
  every3(`chr(2) || ${NAMES}`),
  every3(NAMES),
].join(' || chr(1) || ')}, chr(1))`;

/**
 * Documents that the index of attributes leaves out: long ones, because Postgres may be unable to convert deeply nested
 * JSON, and those with an escaped character, because Postgres cannot represent NUL and halves of surrogate pairs.
 */
export const POSTGRES_UNUSUAL = `(length(doc) >= 10000 OR strpos(doc, '\\u') > 0)`;
export const POSTGRES_USUAL = `(length(doc) < 10000 AND strpos(doc, '\\u') = 0)`;

/** The attributes of a user on Postgres: `{realmId: {name: [value]}}`. */
export const POSTGRES_ATTRIBUTES = `jsonb_set('{}', ARRAY[realm_id], jsonb_extract_path(doc::jsonb, 'attributes'))`;

/** Builds the search index of the users of an older database. */
export const USER_SEARCH: BackgroundMigration = {
  name: 'user-search',
  title: 'build the search index of users',
  left: 'left.users',
  postgresIndexes: [
    {
      name: 'account_trigrams',
      sql: `CREATE INDEX account_trigrams ON account USING gin ((${POSTGRES_TRIGRAMS})) WHERE service_account_client IS NULL`,
    },
    {
      name: 'account_attributes',
      sql: `CREATE INDEX account_attributes ON account USING gin ((${POSTGRES_ATTRIBUTES}) jsonb_path_ops) WHERE service_account_client IS NULL AND ${POSTGRES_USUAL}`,
    },
    {
      name: 'account_unusual',
      sql: `CREATE INDEX account_unusual ON account (realm_id) WHERE service_account_client IS NULL AND ${POSTGRES_UNUSUAL}`,
    },
  ],
  firstSlice: 250,
  *slice(position, limit, dialect) {
    if (dialect === 'postgres') return { position, handled: 0, finished: true };
    const ids = yield* all('search_user.next', { after: position, limit });
    const last = ids.at(-1)?.id;
    if (last === undefined) return { position, handled: 0, finished: true };
    yield* run('search_realm.fill', {});
    yield* run('search_user.fill', { after: position, last });
    return { position: last, handled: ids.length, finished: ids.length < limit };
  },
};

// The search index on SQLite. It is here because a start loads this file, but not the queries.

/** The number of a realm is in the upper bits of the keys of its users, so that a search reads only their range. */
export const KEY_BITS = 40;

/** The greatest key of a realm's users, or the one before the first if it has none. */
export const FIRST_KEY = `coalesce((
      SELECT key FROM search_user WHERE key > realm.number << ${KEY_BITS} AND key < (realm.number + 1) << ${KEY_BITS}
      ORDER BY key DESC LIMIT 1
    ), realm.number << ${KEY_BITS})`;

/**
 * Returns the condition that texts on SQLite are together too long for the search index. The only thread that writes
 * maintains the index, so a long text would delay every other write. A search compares users with such texts one by one.
 */
export function isLong(...texts: readonly string[]): string {
  return `${texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ')} >= 10000`;
}

/** What the index contains instead of attributes and names that are too long. No attribute and no search has them. */
export const LONG_DOCUMENT = 'long';
export const LONG_NAMES = '\u0001\u0001\u0001';

/** Number of bytes at the beginning and at the end of a long value that its token contains. */
const [HEAD, TAIL] = [100, 40];

/** The token of an attribute value in the index on SQLite: the name, and the value or the parts of a long one. */
export function PAIR(name: string, value: string): string {
  const bytes = `CAST(${value} AS BLOB)`;
  return `hex(${name}) || 'x' || CASE WHEN length(${bytes}) <= ${HEAD + TAIL} THEN hex(${bytes})
      ELSE hex(substr(${bytes}, 1, ${HEAD})) || 'x' || hex(substr(${bytes}, -${TAIL})) || 'x' || length(${bytes}) END`;
}
