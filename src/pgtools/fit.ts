import type { DumpReport } from '../backupset/index.ts';
import { IdkitError } from '../core/index.ts';
import type { PostgresContext } from './context.ts';
import { findDatabases, queryBeside } from './databases.ts';
import { identifier, literal } from './quote.ts';
import { readServer, type ServerFacts } from './server.ts';

/**
 * Checks before a load that the server suits the dump: its version, the roles that idkit's role may act for, the
 * rights to create databases and to rename the live one, and that no logical replication slot depends on the live one. One error lists everything that is missing.
 *
 * @throws IDKIT_VERSION; IDKIT_UNREACHABLE for a standby
 */
export async function checkServerFits(
  context: PostgresContext,
  dump: DumpReport,
  options: { inPlace?: boolean } = {},
): Promise<ServerFacts> {
  const { psql } = context;
  const server = await readServer(context);
  if (server.standby)
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `the database server at ${psql.location} is a standby, which accepts no writes`,
      { hints: ['name the primary, or every server of the cluster: postgres://USER@HOST1,HOST2/NAME'] },
    );
  const { serverVersion, roles = [] } = dump.postgres ?? {};
  const faults: string[] = [];
  const hints: string[] = [];
  const sourceMajor = Number.parseInt(serverVersion ?? '0', 10);
  if (sourceMajor > server.major) {
    faults.push(
      `the dump is from Postgres ${serverVersion}, but the server runs Postgres ${server.versionText}`,
    );
    hints.push(`restore it into Postgres ${sourceMajor} or newer`);
  }
  if (!server.createsDatabases && options.inPlace !== true) {
    faults.push(`the role ${server.role} may not create the database that the restore loads`);
    hints.push(
      `as a superuser: ALTER ROLE ${identifier(server.role)} CREATEDB`,
      'or use --in-place --confirm NAME, which empties the live database first',
    );
  }
  const live = (await findDatabases(context, [context.database])).get(context.database);
  if (live?.ours === false && options.inPlace !== true) {
    faults.push(
      `the role ${server.role} does not own the database ${live.name}, which the restore must rename (its owner is ${live.owner})`,
    );
    hints.push(
      `as a superuser: ALTER DATABASE ${identifier(live.name)} OWNER TO ${identifier(server.role)}`,
      'or use --in-place --confirm NAME, which empties the live database first',
    );
  }
  const slots =
    live === undefined || options.inPlace === true ? [] : await findLogicalSlots(context, live.name);
  if (slots.length > 0) {
    faults.push(
      `the database ${live!.name} has logical replication slots, and a database with slots cannot be replaced: ${slots.join(', ')}`,
    );
    for (const slot of slots) hints.push(`SELECT pg_drop_replication_slot(${literal(slot)})`);
    hints.push(
      'create the slots again on the restored database, and let their readers begin with a new copy',
    );
  }
  const known = await readKnown(context, roles);
  const missing = roles.filter((role) => !known.has(role));
  if (missing.length > 0) {
    faults.push(`the dump names roles that the server does not have: ${missing.join(', ')}`);
    for (const role of missing) hints.push(`CREATE ROLE ${identifier(role)} NOLOGIN`);
  }
  const foreign = roles.filter((role) => known.get(role) === false);
  if (foreign.length > 0) {
    faults.push(`the role ${server.role} may not make ${foreign.join(' or ')} the owner of objects`);
    for (const role of foreign) hints.push(`GRANT ${identifier(role)} TO ${identifier(server.role)}`);
  }
  if (faults.length > 0)
    throw new IdkitError('IDKIT_VERSION', `the database at ${psql.location}: ${faults.join('; ')}`, {
      hints,
    });
  return server;
}

/**
 * Creates the roles that the server lacks. The roles can own objects but cannot log in, and `loader` may act for them.
 */
export async function makeRoles(
  context: PostgresContext,
  roles: readonly string[],
  loader: string,
): Promise<void> {
  const known = await readKnown(context, roles);
  for (const role of roles)
    if (!known.has(role))
      await queryBeside(
        context,
        `CREATE ROLE ${identifier(role)} NOLOGIN; GRANT ${identifier(role)} TO ${identifier(loader)};`,
      );
}

/** Returns the names of the logical replication slots of a database. Their readers would follow the previous database. */
async function findLogicalSlots(context: PostgresContext, database: string): Promise<readonly string[]> {
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('slot', slot_name) FROM pg_replication_slots
      WHERE slot_type = 'logical' AND database = ${literal(database)} ORDER BY slot_name;`,
  );
  return rows.map((row) => String(row['slot']));
}

/** Maps each of the roles that exist to whether this role may act for it. */
async function readKnown(
  context: PostgresContext,
  names: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  if (names.length === 0) return new Map();
  const rows = await queryBeside(
    context,
    `SELECT json_build_object('role', rolname, 'may', pg_has_role(oid, 'MEMBER')) FROM pg_roles
      WHERE rolname IN (${names.map(literal).join(', ')});`,
  );
  return new Map(rows.map((row) => [String(row['role']), row['may'] === true]));
}
