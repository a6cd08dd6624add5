import { FIRST } from './0001-first.ts';
import { LOGIN } from './0002-login.ts';
import { USERS_OF_REALM } from './0003-users-of-realm.ts';

/** Each entry lifts a database by one version, in one transaction. Append only: a shipped one never changes. */
export const MIGRATIONS: readonly string[] = [FIRST, LOGIN, USERS_OF_REALM];

/** `PRAGMA user_version` of a database that this program writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** `PRAGMA application_id`: `idkt`. */
export const APPLICATION_ID = 0x69646b74;
