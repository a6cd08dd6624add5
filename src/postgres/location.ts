import type { Secret } from '../core/index.ts';
import type { PostgresLock } from './locks.ts';
import type { Wire, WireOptions } from './wire.ts';

/** The location of a Postgres database. */
export interface PostgresLocation {
  /** The address, in the form that `parsePostgresUrl` accepts. */
  url: string;
  /** Takes precedence over the address and the password file. */
  password?: Secret | undefined;
  /** The name that the server's administrator sees. Default: `idkit HOST PID`. */
  applicationName?: string | undefined;
  /** True if the caller already holds the lock of services (`lockPostgres`), or opens the database for reading. */
  withoutLock?: boolean;
}

/**
 * Takes the lock of services of a database on its own connection. Every connection of every `idkit serve` holds the
 * lock shared. A procedure that changes the whole database holds it exclusively.
 *
 * @throws IDKIT_LOCKED with the holders' names from `pg_stat_activity`, IDKIT_UNREACHABLE, IDKIT_CREDENTIALS,
 *   IDKIT_NOT_FOUND, IDKIT_SETTING
 */
export async function lockPostgres(
  location: PostgresLocation,
  mode: 'shared' | 'exclusive',
): Promise<PostgresLock> {
  const { connectionsTo } = await import('./driver.ts');
  const { holdLock } = await import('./locks.ts');
  return holdLock(connectionsTo(location, { holdsLock: false }), mode);
}

/**
 * Opens a connection for the messages of another program. The first call loads the driver.
 *
 * @throws as `openWire` of wire.ts
 */
export async function openWire(options: WireOptions): Promise<Wire> {
  const wire = await import('./wire.ts');
  return wire.openWire(options);
}
