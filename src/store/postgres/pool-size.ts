import type { Client } from 'pg';

/** Connections of one store at most; more only wait for each other's rows. */
const LARGEST = 10;
/** Fewer would let one long read hold up every refresh. */
const SMALLEST = 2;
/** Of the server's connections one store takes at most this part. */
const PART = 5;

/** How many connections a store takes of a server: few where it has few for this database and user. */
export async function readPoolSize(client: Pick<Client, 'query'>): Promise<number> {
  const { rows } = await client.query<{ connections: number }>(`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
    ) AS connections`);
  return Math.max(SMALLEST, Math.min(LARGEST, Math.floor(rows[0]!.connections / PART)));
}
