import { FIRST } from './0001-first.ts';
import { LOGIN } from './0002-login.ts';
import { USERS_OF_REALM } from './0003-users-of-realm.ts';

/**
 * Each entry lifts a database by one version, as SQLite's of the same number does. Append only: a shipped one never
 * changes. Replicas of the version before still run while one is applied.
 */
export const MIGRATIONS: readonly string[] = [FIRST, LOGIN, USERS_OF_REALM];
