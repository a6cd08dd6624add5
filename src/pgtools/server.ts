import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { queryBeside } from './databases.ts';
import { OLDEST_MAJOR, showVersion } from './programs/local-programs.ts';
import type { JsonRow, QueryOptions } from './psql.ts';

/** Facts about a server and about idkit's role on it. */
export interface ServerFacts {
  /** A number like `server_version_num`: 150018 is version 15.18. */
  version: number;
  major: number;
  /** For example `15.18`. */
  versionText: string;
  role: string;
  superuser: boolean;
  createsDatabases: boolean;
  /** True if the server follows another one and accepts no writes. */
  standby: boolean;
  /** The cluster's system identifier. Undefined if the role may not read it. */
  systemIdentifier?: string;
  /** Undefined if the role may not read it. */
  dataDirectory?: string;
  /** Unix time in seconds of the server's start. */
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

/**
 * Reads the facts about a server and about idkit's role on it.
 *
 * @throws IDKIT_VERSION if the server is older than `OLDEST_MAJOR`; IDKIT_UNREACHABLE, IDKIT_CREDENTIALS
 */
export async function readServer(
  context: PostgresContext,
  options: QueryOptions & {
    /** The database to connect to. Default: a maintenance database, because the live database may not exist. */
    database?: string;
  } = {},
): Promise<ServerFacts> {
  const { psql } = context;
  const [row = {}]: readonly JsonRow[] =
    options.database === undefined
      ? await queryBeside(context, QUERY, options)
      : await psql.query(options.database, QUERY, options);
  const version = Number(row['version']);
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_MAJOR)
    throw new IdkitError(
      'IDKIT_VERSION',
      `the database server at ${psql.location} has version ${showVersion(version)}, but idkit needs ${OLDEST_MAJOR} or newer`,
    );
  return {
    version,
    major,
    versionText: showVersion(version),
    role: String(row['role']),
    superuser: row['superuser'] === true,
    createsDatabases: row['createsDatabases'] === true,
    standby: row['standby'] === true,
    startedAt: Number(row['startedAt']),
    ...(typeof row['systemIdentifier'] === 'string' ? { systemIdentifier: row['systemIdentifier'] } : {}),
    ...(typeof row['dataDirectory'] === 'string' ? { dataDirectory: row['dataDirectory'] } : {}),
  };
}
