// The migrations of the schema, one file each, oldest first.
// Decided here: the order, and so the number, of every migration. Not here: when a driver runs them.
// To add one, write its file, append it to `MIGRATIONS` and run `node src/store/migrations/compile-definitions.ts`.
import { FIRST } from './0001-first.ts';
import { LOGIN } from './0002-login.ts';
import { USERS_OF_REALM } from './0003-users-of-realm.ts';

/**
 * Raises a database by one version, in one transaction. On Postgres, replicas of the previous version still run while a
 * migration is applied.
 */
export interface Migration {
  sqlite: string;
  postgres: string;
}

/** Append only: a shipped migration never changes. */
export const MIGRATIONS: readonly Migration[] = [FIRST, LOGIN, USERS_OF_REALM];

/** The version of the schema that this program writes: `PRAGMA user_version`, or the row of `idkit_schema`. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** `PRAGMA application_id`: `idkt`. */
export const APPLICATION_ID = 0x69646b74;
