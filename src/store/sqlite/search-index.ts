import type { DatabaseSync } from 'node:sqlite';
import {
  FIRST_KEY,
  isLong,
  LONG_DOCUMENT,
  LONG_NAMES,
  PAIR,
  USER_SEARCH,
} from '../migrations/user-search.ts';

// The search index of users on SQLite. It is derived from the users, so that dumps do not contain it, and a database
// without it gets a new one. Triggers maintain it in the transaction of each write.

/** The row of `search_user` for the account in `of`. */
function insertUser(of: 'NEW'): string {
  return `
  INSERT INTO search_realm (realm_id) SELECT ${of}.realm_id
    WHERE ${of}.service_account_client IS NULL
      AND NOT EXISTS (SELECT 1 FROM search_realm WHERE realm_id = ${of}.realm_id);
  INSERT INTO search_user (key, realm, id, username, email, first_name, last_name)
    SELECT ${FIRST_KEY} + 1, realm.number, ${of}.id, ${of}.username, ${of}.email, ${of}.first_name, ${of}.last_name
    FROM search_realm AS realm WHERE realm.realm_id = ${of}.realm_id AND ${of}.service_account_client IS NULL;`;
}

const DELETE_USER = `
  DELETE FROM search_user WHERE username = OLD.username AND id = OLD.id
    AND realm = (SELECT number FROM search_realm WHERE realm_id = OLD.realm_id);`;

const changed = (column: string) => `OLD.${column} IS NOT NEW.${column}`;
const attributes = (doc: string) =>
  `CASE WHEN json_valid(${doc}) THEN json_extract(${doc}, '$.attributes') END`;

const LONG_NAME = `(${isLong('NEW.username', 'NEW.email', 'NEW.first_name', 'NEW.last_name')})`;
const LONG_OLD = `(${isLong('OLD.doc')})`;
const LONG_NEW = `(${isLong('NEW.doc')})`;

const DEFINITIONS = `
CREATE TABLE search_realm (number INTEGER PRIMARY KEY, realm_id TEXT NOT NULL UNIQUE);
CREATE TABLE search_user (
  key INTEGER PRIMARY KEY,
  realm INTEGER NOT NULL,
  id TEXT NOT NULL,
  username TEXT NOT NULL,
  email TEXT,
  first_name TEXT,
  last_name TEXT,
  UNIQUE (realm, username)
);
CREATE VIRTUAL TABLE search_trigram USING fts5 (
  username, email, first_name, last_name,
  tokenize = 'trigram', detail = none, content = '', contentless_delete = 1
);
CREATE VIRTUAL TABLE search_attribute USING fts5 (
  pairs, tokenize = 'ascii', detail = none, content = '', contentless_delete = 1
);
CREATE TRIGGER search_user_insert AFTER INSERT ON search_user BEGIN
  INSERT INTO search_trigram (rowid, username, email, first_name, last_name)
    SELECT NEW.key, char(2, 2) || NEW.username || char(3), char(2, 2) || NEW.email || char(3),
      char(2, 2) || NEW.first_name || char(3), char(2, 2) || NEW.last_name || char(3) WHERE NOT ${LONG_NAME};
  INSERT INTO search_trigram (rowid, username)
    SELECT NEW.key, char(${[...LONG_NAMES].map((character) => character.charCodeAt(0)).join(', ')}) WHERE ${LONG_NAME};
  INSERT INTO search_attribute (rowid, pairs) SELECT NEW.key, pairs FROM (
    SELECT group_concat(${PAIR('attribute.key', 'entry.value')}, ' ') AS pairs
    FROM account,
      json_each(CASE WHEN json_valid(account.doc) THEN account.doc ELSE '{}' END, '$.attributes') AS attribute,
      json_each(CASE WHEN attribute.type IN ('array', 'object') THEN attribute.value ELSE '[]' END) AS entry
    WHERE account.id = NEW.id AND NOT (${isLong('account.doc')})
  ) WHERE pairs IS NOT NULL;
  INSERT INTO search_attribute (rowid, pairs)
    SELECT NEW.key, '${LONG_DOCUMENT}' FROM account WHERE id = NEW.id AND ${isLong('doc')};
END;
CREATE TRIGGER search_user_delete AFTER DELETE ON search_user BEGIN
  DELETE FROM search_trigram WHERE rowid = OLD.key;
  DELETE FROM search_attribute WHERE rowid = OLD.key;
END;
CREATE TRIGGER account_search_insert AFTER INSERT ON account BEGIN${insertUser('NEW')}
END;
CREATE TRIGGER account_search_delete AFTER DELETE ON account BEGIN${DELETE_USER}
END;
CREATE TRIGGER account_search_update AFTER UPDATE ON account
WHEN ${['realm_id', 'username', 'email', 'first_name', 'last_name', 'service_account_client'].map(changed).join(' OR ')}
  OR (${changed('doc')} AND CASE WHEN ${LONG_OLD} OR ${LONG_NEW} THEN ${LONG_OLD} <> ${LONG_NEW}
    ELSE ${attributes('OLD.doc')} IS NOT ${attributes('NEW.doc')} END)
BEGIN${DELETE_USER}${insertUser('NEW')}
END;
`;

/** The tables and triggers of the search index, with the tables that FTS5 creates for its own. */
const OWN =
  /^(?:search_(?:realm|user)|search_(?:trigram|attribute)(?:_(?:data|idx|content|docsize|config))?|(?:search_user|account_search)_(?:insert|update|delete))$/;

/** Reports whether an entry of the schema belongs to the search index. */
export function isOfSearchIndex(name: string): boolean {
  return OWN.test(name);
}

/** Removes the search index. The next start creates a new one, as after the load of a dump. */
export function dropSearchIndex(database: DatabaseSync): void {
  const entries = database
    .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'table')`)
    .all()
    .filter(({ name }) => isOfSearchIndex(String(name)));
  const drop = (kind: string, names: readonly unknown[]) =>
    database.exec(names.map((name) => `DROP ${kind} IF EXISTS "${name}";`).join(''));
  const named = (type: string, matches: (sql: string) => boolean) =>
    entries
      .filter((entry) => entry['type'] === type && matches(String(entry['sql'])))
      .map(({ name }) => name);
  database.exec('BEGIN IMMEDIATE');
  drop(
    'TRIGGER',
    named('trigger', () => true),
  );
  // Dropping a virtual table drops the tables that FTS5 created for it.
  drop(
    'TABLE',
    named('table', (sql) => sql.startsWith('CREATE VIRTUAL')),
  );
  drop('TABLE', ['search_user', 'search_realm']);
  database.exec('COMMIT');
}

export function hasSearchIndex(database: DatabaseSync): boolean {
  return database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'search_trigram'`).get() !== undefined;
}

/**
 * Creates the search index if it is missing: in a new database, in one of an older version, and in one from a dump. If
 * there are users, the background migration adds them.
 */
export function createSearchIndex(database: DatabaseSync): void {
  if (hasSearchIndex(database)) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(DEFINITIONS);
    database.prepare('DELETE FROM background_migration WHERE name = ?').run(USER_SEARCH.name);
    database
      .prepare(
        `INSERT INTO background_migration (name, position, handled, finished)
         SELECT ?, '', 0, 1 WHERE NOT EXISTS (SELECT 1 FROM account)`,
      )
      .run(USER_SEARCH.name);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
