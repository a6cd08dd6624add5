import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { queryBeside } from './databases.ts';
import { OLDEST_MAJOR, showVersion } from './programs/local-programs.ts';
import type { QueryOptions } from './psql.ts';

/** What a server and the role there are. */
export interface ServerFacts {
  /** As `server_version_num`. */
  version: number;
  major: number;
  /** `15.18`. */
  versionText: string;
  role: string;
  superuser: boolean;
  createsDatabases: boolean;
  /** It follows another server and takes no writes. */
  standby: boolean;
  /** Of the cluster; undefined where the role may not ask. */
  systemIdentifier?: string;
  /** Undefined where the role may not ask. */
  dataDirectory?: string;
  /** Seconds of the epoch. */
  startedAt: number;
}

const QUERY = `SELECT json_build_object(
    'version', current_setting('server_version_num')::int,
    'role', current_user, 'superuser', r.rolsuper, 'createsDatabases', r.rolcreatedb OR r.rolsuper,
    'standby', pg_is_in_recovery(),
    'systemIdentifier', CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
      THEN (SELECT system_identifier::text FROM pg_control_system()) END,
    'dataDirectory', CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') OR r.rolsuper
      THEN current_setting('data_directory', true) END,
    'startedAt', floor(extract(epoch FROM pg_postmaster_start_time())))
  FROM pg_roles r WHERE r.rolname = current_user;`;

/** @throws IDKIT_VERSION for a server older than idkit works with; IDKIT_UNREACHABLE, IDKIT_CREDENTIALS */
export async function readServer(
  context: PostgresContext,
  options: QueryOptions & {
    /** Asked from there; from beside all databases unless told, as the one to be restored may be absent. */
    database?: string;
  } = {},
): Promise<ServerFacts> {
  const { psql } = context;
  const [row] =
    options.database === undefined
      ? await queryBeside(context, QUERY, options)
      : await psql.query(options.database, QUERY, options);
  const version = Number(row!['version']);
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_MAJOR)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the database server at ${psql.location} is of version ${showVersion(version)}, and ${OLDEST_MAJOR} is the oldest that works`,
    );
  return {
    version,
    major,
    versionText: showVersion(version),
    role: String(row!['role']),
    superuser: row!['superuser'] === true,
    createsDatabases: row!['createsDatabases'] === true,
    standby: row!['standby'] === true,
    startedAt: Number(row!['startedAt']),
    ...(typeof row!['systemIdentifier'] === 'string' ? { systemIdentifier: row!['systemIdentifier'] } : {}),
    ...(typeof row!['dataDirectory'] === 'string' ? { dataDirectory: row!['dataDirectory'] } : {}),
  };
}
