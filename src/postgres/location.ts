import type { Secret } from '../core/index.ts';
import type { PostgresLock } from './locks.ts';
import type { Wire, WireOptions } from './wire.ts';

/** Where a Postgres database is. */
export interface PostgresLocation {
  /** As `parsePostgresUrl` takes it. */
  url: string;
  /** Goes before one in the address and before the password file. */
  password?: Secret | undefined;
  /** What the server's administrator sees; default: `idkit HOST PID`. */
  applicationName?: string | undefined;
  /** True where the caller holds the lock of services by itself (`lockPostgres`), or opens for reading. */
  withoutLock?: boolean;
}

/**
 * Takes the lock of services of a database on a connection of its own: each serve holds it shared, by every one of its
 * connections, and whoever changes the whole database holds it exclusively (contract §3, "Locks").
 *
 * @throws IDKIT_LOCKED that names the holders as `pg_stat_activity` does, IDKIT_UNREACHABLE, IDKIT_CREDENTIALS,
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
 * Opens a connection for another program's messages. The driver is loaded at the first call.
 *
 * @throws as `openWire` of wire.ts does
 */
export async function openWire(options: WireOptions): Promise<Wire> {
  const wire = await import('./wire.ts');
  return wire.openWire(options);
}
