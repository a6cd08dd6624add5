import { FIRST } from './0001-first.ts';
import { LOGIN } from './0002-login.ts';

/** Each entry lifts a database by one version, in one transaction. Append only: a shipped one never changes. */
export const MIGRATIONS: readonly string[] = [FIRST, LOGIN];

/** `PRAGMA user_version` of a database that this program writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** `PRAGMA application_id`: `idkt`. */
export const APPLICATION_ID = 0x69646b74;
