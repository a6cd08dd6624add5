import type { PostgresContext } from '../../pgtools/index.ts';
import type { DatabaseInspection } from '../contract.ts';

/** The settings that decide whether a committed write survives, and how much the server can do. */
const NAMES = [
  'server_version',
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'wal_level',
  'max_connections',
  'superuser_reserved_connections',
  'shared_buffers',
  'work_mem',
  'effective_cache_size',
  'autovacuum',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'default_transaction_isolation',
  'ssl',
  'TimeZone',
];

const QUERY = `SELECT json_build_object('name', name, 'value', setting || coalesce(' ' || unit, ''))
    FROM pg_settings WHERE name IN (${NAMES.map((name) => `'${name}'`).join(', ')}) ORDER BY name;
  SELECT json_build_object('name', 'connections in use', 'value', count(*)::text) FROM pg_stat_activity;
  SELECT json_build_object('name', 'in recovery', 'value', pg_is_in_recovery()::text);
  SELECT json_build_object('name', 'bytes', 'value', pg_database_size(current_database())::text);
  SELECT json_build_object('name', 'clock', 'value', extract(epoch FROM clock_timestamp())::text);`;

/** Settings whose value risks losing committed writes. */
const DANGEROUS: readonly (readonly [name: string, value: string, effect: string])[] = [
  ['fsync', 'off', 'a crash of the machine can destroy the database'],
  ['full_page_writes', 'off', 'a crash of the machine can destroy the database'],
  ['synchronous_commit', 'off', 'a crash loses the last writes, such as a revoked or rotated token'],
  ['autovacuum', 'off', 'the tables grow without a limit'],
];

/** Reads the settings of the server of a database. */
export async function inspectPostgres({ psql, database }: PostgresContext): Promise<DatabaseInspection> {
  const before = Date.now();
  const rows = await psql.query<{ name: string; value: string }>(database, QUERY, {
    applicationName: 'idkit doctor',
  });
  const middle = (before + Date.now()) / 2;
  const settings = rows.filter(({ name }) => name !== 'clock');
  const readSetting = (name: string) => rows.find((row) => row.name === name)?.value;
  const faults = DANGEROUS.flatMap(([name, value, effect]) =>
    readSetting(name) === value ? [`${name} is ${value}, so ${effect}; set it to on in postgresql.conf`] : [],
  );
  if (readSetting('in recovery') === 'true')
    faults.push('the server is a standby, which accepts no writes; point the address at the primary');
  const used = Number(readSetting('connections in use'));
  const most = Number(readSetting('max_connections'));
  if (used > 0.9 * most)
    faults.push(`${used} of ${most} connections are in use; raise max_connections in postgresql.conf`);
  const clock = Number(readSetting('clock'));
  return {
    settings,
    faults,
    ...(Number.isFinite(clock) ? { clockOffsetMilliseconds: Math.round(clock * 1000 - middle) } : {}),
  };
}
