import { SESSION_ROWS as MOVE_SESSIONS } from '../verbs/move-sessions.ts';
import { NAME_MEMBERS } from '../verbs/name-members.ts';
import { BACKGROUND } from './0004-background-migrations.ts';
import { SESSION_ROWS } from './0005-session-rows.ts';
import { COUNTS } from './0006-counts.ts';
import { EVENT_INDEXES } from './0007-event-indexes.ts';
import { MEMBERS } from './0008-members.ts';
import { BACKGROUND_MIGRATIONS } from './background.ts';
import { INDEX_EVENTS } from './event-indexes.ts';
import { MIGRATIONS, type Migration } from './index.ts';

// What a restore has to know about the schema of a loaded database.

/** The migrations that create what a background migration works on. The others work on the first tables. */
const NEEDS: Readonly<Record<string, Migration>> = {
  [MOVE_SESSIONS]: SESSION_ROWS,
  [INDEX_EVENTS.name]: EVENT_INDEXES,
  [NAME_MEMBERS]: MEMBERS,
};

/** The tables of the kept counts. */
const COUNT_TABLES = {
  sqlite: ['record_count', 'count_check'],
  postgres: ['record_count', 'count_check', 'count_change', 'session_client_change'],
} as const;

function has(version: number, migration: Migration | undefined): boolean {
  return migration === undefined || version > MIGRATIONS.indexOf(migration);
}

/**
 * Returns the statements that create the schema of a version on Postgres.
 *
 * @param finished the names of the background migrations whose indexes exist
 */
export function postgresSchema(version: number, finished: readonly string[]): string {
  const indexes = BACKGROUND_MIGRATIONS.filter(
    ({ name }) => finished.includes(name) && has(version, NEEDS[name]),
  ).flatMap(({ postgresIndexes = [] }) => postgresIndexes.map(({ sql }) => `${sql};`));
  return [...MIGRATIONS.slice(0, version).map(({ postgres }) => postgres), ...indexes].join('\n');
}

/**
 * Returns the SQL that discards what a loaded dump states about its own rows, because a dump may state anything: the
 * kept counts, the usernames of members, and the end of background migrations that its version does not have.
 *
 * Without a row in `count_check`, every reader counts the records until the service has counted them again. The
 * usernames are set here, because a list of members skips a link without one.
 *
 * @param version the version of the dump, whose schema may have been migrated since
 */
export function discardDerived(version: number, dialect: 'sqlite' | 'postgres'): string {
  const later = BACKGROUND_MIGRATIONS.filter(({ name }) => !has(version, NEEDS[name]));
  const empty = dialect === 'sqlite' ? 'DELETE FROM' : 'TRUNCATE';
  return [
    ...(has(version, BACKGROUND)
      ? later.map(({ name }) => `DELETE FROM background_migration WHERE name = '${name}';`)
      : []),
    ...(has(version, COUNTS) ? COUNT_TABLES[dialect].map((table) => `${empty} ${table};`) : []),
    ...(has(version, MEMBERS) ? ['user_role', 'user_group'].map(nameMembers) : []),
  ].join('\n');
}

/** Writes only the links whose username is wrong. */
function nameMembers(table: string): string {
  return `UPDATE ${table} SET username = account.username FROM account
  WHERE account.id = ${table}.user_id AND ${table}.username IS DISTINCT FROM account.username;`;
}
