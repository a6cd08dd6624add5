import type { Client } from 'pg';
import type { Lane } from './connections.ts';

/** Connections of one store at most; more only wait for each other's rows. */
const LARGEST = 12;
/** For requests; fewer would let one long write hold up every refresh. */
const SMALLEST = 2;
/** Of the server's connections one store takes at most this part. */
const PART = 5;

/** Of these for reads that may take long, where there are enough; else one. */
const READS = 2;
const ENOUGH = 8;

/** How many connections a store takes of a server: few where it has few for this database and user. */
export async function readPoolSizes(client: Pick<Client, 'query'>): Promise<Record<Lane, number>> {
  const { rows } = await client.query<{ connections: number }>(`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
    ) AS connections`);
  const all = Math.min(LARGEST, Math.floor(rows[0]!.connections / PART));
  const reads = all < ENOUGH ? 1 : READS;
  return { requests: Math.max(SMALLEST, all - reads), reads };
}
