// Exports everything that loads the driver `pg`, so that a service on SQLite never loads it.
import { hostname } from 'node:os';
import { parsePostgresUrl } from '../config/index.ts';
import { Connections, type ConnectionsOptions } from './connections.ts';
import type { PostgresLocation } from './location.ts';

export type { Connections, Lane } from './connections.ts';

/** Time in milliseconds to wait for the server when a store is opened, if the address has no `connect_timeout`. */
const PATIENCE_MS = 5_000;

/**
 * Returns the connections to a database. They connect when they are first used.
 *
 * @throws IDKIT_SETTING
 */
export function connectionsTo(
  { url, password, applicationName }: PostgresLocation,
  options: ConnectionsOptions,
): Connections {
  const name = (applicationName ?? defaultName()).slice(0, 63);
  return new Connections({ address: parsePostgresUrl(url), password, applicationName: name }, options);
}

export function patienceOf({ address }: Connections): number {
  return address.connectTimeout === undefined ? PATIENCE_MS : address.connectTimeout * 1000;
}

function defaultName(): string {
  return `idkit ${hostname()} ${process.pid}`;
}
