// The migrations of the schema, one file each, oldest first.
// Decided here: the order of the migrations, and so the number of each. Not here: when a driver runs them.
// To add a migration, write its file, append it to `MIGRATIONS` and run
// `node src/store/migrations/compile-definitions.ts`.
import { FIRST } from './0001-first.ts';
import { LOGIN } from './0002-login.ts';
import { USERS_OF_REALM } from './0003-users-of-realm.ts';
import { BACKGROUND } from './0004-background-migrations.ts';
import { SESSION_ROWS } from './0005-session-rows.ts';
import { COUNTS } from './0006-counts.ts';
import { EVENT_INDEXES } from './0007-event-indexes.ts';
import { MEMBERS } from './0008-members.ts';
import { REQUIRED_ACTIONS } from './0009-required-actions.ts';
import { REFRESH_GRACE } from './0010-refresh-grace.ts';
import { TRASH } from './0011-trash.ts';

/**
 * The SQL that raises the schema by one version, in one transaction. On Postgres, replicas of the previous version are
 * still running at that time, and continue with the new schema unless `needsStop` is set.
 */
export interface Migration {
  sqlite: string;
  postgres: string;
  /**
   * True if replicas of the previous version cannot continue with the new schema. The migration then waits until all of
   * them have stopped.
   */
  needsStop?: true;
}

/** All migrations. A released migration never changes: only append to the list. */
export const MIGRATIONS: readonly Migration[] = [
  FIRST,
  LOGIN,
  USERS_OF_REALM,
  BACKGROUND,
  SESSION_ROWS,
  COUNTS,
  EVENT_INDEXES,
  MEMBERS,
  REQUIRED_ACTIONS,
  REFRESH_GRACE,
  TRASH,
];

/**
 * The schema version of this program. SQLite stores it in `PRAGMA user_version`, Postgres in the table `idkit_schema`.
 */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** `PRAGMA application_id`: `idkt`. */
export const APPLICATION_ID = 0x69646b74;
