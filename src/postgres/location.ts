import type { Secret } from '../core/index.ts';
import type { PostgresLock } from './locks.ts';
import type { Wire, WireOptions } from './wire.ts';

/** The address of a Postgres database, and how to connect to it. */
export interface PostgresLocation {
  /** The address, in the form that `parsePostgresUrl` accepts. */
  url: string;
  /** The password. It takes precedence over those in the address and in the password file. */
  password?: Secret | undefined;
  /** The name of this process in `pg_stat_activity`. Default: `idkit HOST PID`. */
  applicationName?: string | undefined;
  /** True if the caller already holds the service lock (`lockPostgres`), or only reads from the database. */
  withoutLock?: boolean;
}

/**
 * Takes a database's service lock on a separate connection. Each connection of `idkit serve` holds this lock in shared
 * mode. A procedure that changes the whole database holds it in exclusive mode.
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
 * Takes the lock of the schedule on a separate connection, so that only one of several schedulers of a platform runs a
 * job.
 *
 * @throws the errors of `lockPostgres`
 */
export async function lockSchedule(location: PostgresLocation): Promise<PostgresLock> {
  const { connectionsTo } = await import('./driver.ts');
  const { ADVISORY, holdLock } = await import('./locks.ts');
  return holdLock(connectionsTo(location, { holdsLock: false }), 'exclusive', ADVISORY.schedule);
}

/**
 * Opens an authenticated connection and returns its raw stream, over which another program, such as psql, can speak the
 * Postgres protocol. The first call loads the driver.
 *
 * @throws the errors of `openWire` in wire.ts
 */
export async function openWire(options: WireOptions): Promise<Wire> {
  const wire = await import('./wire.ts');
  return wire.openWire(options);
}
