// Postgres tools: everything that idkit does with psql and pg_dump on the database server of its own service or of
// Keycloak. Owns: dumping, loading, swapping by rename, servers for drills, and how passwords are sent to a server.
// Must not know: platforms, containers, settings. Start at psql.ts (a query), then dump.ts, load.ts and swap.ts.
// programs/ finds and runs the client programs.
export { type ConnectionOptions, openContext, type PostgresContext, RESTORE_NAME } from './context.ts';
export { findDatabases, queryBeside } from './databases.ts';
export { dumpPostgres, type PostgresDump } from './dump.ts';
export { checkServerFits, makeRoles } from './fit.ts';
export { emptyLive } from './in-place.ts';
export { checkConstraints, loadGuarded } from './load.ts';
export * from './log/index.ts';
export { setPassword } from './password.ts';
export {
  openLocalPrograms,
  parseProgramVersion,
  showVersion,
  watchChild,
} from './programs/local-programs.ts';
export {
  connectSeconds,
  type PostgresPrograms,
  type ProgramTarget,
  type RunningProgram,
} from './programs/programs.ts';
export { openPsql } from './psql.ts';
export { literal } from './quote.ts';
export { openScratchCluster, type ScratchPlace } from './scratch-cluster.ts';
export { ADMINISTRATOR, makeScratchRole, type ScratchAdministrator } from './scratch-role.ts';
export { findSystemUser, type Owner, scratchRoom } from './scratch-server.ts';
export { readServer } from './server.ts';
export {
  hasServiceTables,
  type RealmCount,
  readServiceFacts,
  SERVICE_SCHEMAS,
} from './service-tables.ts';
export { createStaged, handOver } from './staged.ts';
export {
  discardDatabases,
  drop,
  reopen,
  stagedBytes,
  swapDatabases,
  swapDatabasesBack,
  swapNames,
} from './swap.ts';
export { findTraits } from './traits.ts';
