import { literal, type PostgresContext, queryBeside } from '../../pgtools/index.ts';
import type { DatabaseIdentity } from '../contract.ts';

/**
 * Identifies a database by the system identifier that `initdb` gave the server, so that it does not matter whether an
 * address, an alias or a socket leads to the server. The database need not exist.
 */
export async function identifyPostgres(context: PostgresContext): Promise<DatabaseIdentity> {
  const name = literal(context.database);
  const [row] = await queryBeside(
    context,
    `SELECT json_build_object(
      'server', CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
        THEN (SELECT system_identifier::text FROM pg_control_system()) END,
      'started', pg_postmaster_start_time()::text,
      'oid', (SELECT oid::text FROM pg_database WHERE datname = ${name}),
      'rows', (SELECT (tup_inserted + tup_updated + tup_deleted)::text FROM pg_stat_database WHERE datname = ${name}));`,
  );
  const oid = row?.['oid'];
  const server = row?.['server'];
  return {
    server: typeof server === 'string' ? `system ${server}` : 'unknown',
    started: String(row?.['started']),
    database: typeof oid === 'string' ? `${context.database} (oid ${oid})` : 'none',
    state: { 'rows written since the statistics were reset': String(row?.['rows'] ?? '0') },
  };
}

/** Reads credentials of a database, as digests, so that no hash leaves the server. */
export async function digestPostgresCredentials(
  { psql, database }: PostgresContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await psql.query<{ id: string; sha256: string }>(
    database,
    `SELECT json_build_object('id', id, 'sha256',
        encode(sha256(convert_to(user_id || E'\\n' || coalesce(secret_data, ''), 'UTF8')), 'hex'))
      FROM credential WHERE id IN (${ids.map(literal).join(', ')});`,
  );
  return new Map(rows.map(({ id, sha256 }) => [id, sha256]));
}
