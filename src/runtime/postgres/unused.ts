import { IdkitError } from '../../core/index.ts';
import { SERVICE_LOCK } from '../../postgres/index.ts';
import type { PostgresContext } from './context.ts';
import { queryBeside } from './existing.ts';
import { RESTORE_NAME } from './gate.ts';
import { literal } from './quote.ts';

/**
 * No idkit service writes to the database, on whatever machine it runs: each holds a shared advisory lock there
 * (contract §3, "Locks").
 *
 * @throws IDKIT_SERVICE_RUNNING that names them as `pg_stat_activity` does
 */
export async function checkUnused(context: PostgresContext): Promise<void> {
  const [lockClass, lockObject] = SERVICE_LOCK;
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('name', coalesce(nullif(a.application_name, ''), 'process ' || l.pid))
       FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
       WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${lockClass} AND l.objid = ${lockObject}
         AND l.objsubid = 2
         AND l.database = (SELECT oid FROM pg_database WHERE datname = ${literal(context.database)})
         AND a.application_name IS DISTINCT FROM ${literal(RESTORE_NAME)};`,
  );
  const names = [...new Set(rows.map((row) => String(row['name'])))].sort();
  if (names.length === 0) return;
  throw new IdkitError(
    'IDKIT_SERVICE_RUNNING',
    `the database ${context.database} of ${context.psql.location} is in use by ${names.join(' and ')}`,
    { hints: ['stop every idkit serve on this database, on every machine, then try again'] },
  );
}
