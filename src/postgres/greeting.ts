import type { Client } from 'pg';
import { type PostgresHost, showPostgresHost } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import { SESSION_SETTINGS } from './client-settings.ts';
import { oneRow } from './faults.ts';
import { CLOSED_COMMENT, refuse, takeSql } from './locks.ts';
import type { ServerIdentity } from './primary.ts';

/**
 * The first query of every connection. It applies the session settings and turns on `synchronous_commit` if that is
 * off, because commits must wait for the disk.
 */
const GREETING = `SELECT pg_backend_pid() AS pid, pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS standby,
  pg_postmaster_start_time()::text AS started,
  CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline,
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
  ${Object.entries(SESSION_SETTINGS)
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(', ')}`;

const CLOSED = `EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database()
  AND split_part(shobj_description(d.oid, 'pg_database'), E'\\n', 1) = '${CLOSED_COMMENT}')`;

/** What a server reports about itself when a connection is opened. */
export interface Greeted extends ServerIdentity {
  /** The id of the server process for this connection. A pooler reports another number. */
  pid: number;
}

/**
 * Checks that the server accepts writes and admits this service.
 *
 * @param options `within`: timeout in milliseconds
 * @throws IDKIT_LOCKED if a restore or another command uses the database; an error with SQLSTATE 25006 if the server
 *   accepts no writes
 */
export async function greet(
  client: { query: Client['query'] },
  host: PostgresHost,
  options: { holdsLock: boolean; place: string; within: number },
): Promise<Greeted> {
  const lock = options.holdsLock ? takeSql('shared') : 'true';
  const order = {
    text: `${GREETING}, ${CLOSED} AS closed, ${lock} AS admitted`,
    query_timeout: options.within,
  };
  const result = await client.query<Greeted & { standby: boolean; closed: boolean; admitted: boolean }>(
    order,
  );
  const { standby, closed, admitted, pid, started, timeline } = oneRow(result);
  if (standby)
    throw Object.assign(new Error(`the server accepts no writes (${showPostgresHost(host)})`), {
      code: '25006',
    });
  if (!admitted) await refuse(client, options.place);
  if (closed && options.holdsLock)
    throw new IdkitError('IDKIT_LOCKED', `the database at ${options.place} is being restored`, {
      hints: [
        'wait until the restore has ended; finish an interrupted one with idkit restore --resume or --abort',
      ],
    });
  return { pid, started, timeline };
}
