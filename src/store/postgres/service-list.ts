import type { PoolClient } from 'pg';
import { SERVICE_LOCK } from '../../postgres/index.ts';
import type { ServiceOnDatabase } from '../contract/index.ts';

/** Lists the services that hold the service lock of the database in shared mode, by the names of their connections. */
export async function listServices(client: PoolClient): Promise<readonly ServiceOnDatabase[]> {
  const { rows } = await client.query<{ name: string; since: number }>(
    `SELECT coalesce(nullif(application_name, ''), 'process ' || pid) AS name,
       min(extract(epoch FROM backend_start) * 1000)::float8 AS since
     FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = $2 AND objsubid = 2
       AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY 1 ORDER BY 2, 1`,
    [...SERVICE_LOCK],
  );
  return rows.map(({ name, since }) => ({ name, since: Math.round(since) }));
}
