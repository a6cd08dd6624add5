// Postgres tools: a database server worked on with psql and pg_dump, idkit's own or Keycloak's.
// Owns: dumping, loading, swapping by rename, servers for drills, how a password reaches a server.
// Must not know: platforms, containers, settings.
// Start at psql.ts (a query), then dump.ts, load.ts and swap.ts.
export { checkConstraints } from './check-loaded.ts';
export { type ConnectionOptions, openContext, type PostgresContext, RESTORE_NAME } from './context.ts';
export { findDatabases, queryBeside } from './databases.ts';
export { dumpPostgres, type PostgresDump } from './dump.ts';
export { checkServerFits, makeRoles } from './fit.ts';
export { emptyLive } from './in-place.ts';
export { loadGuarded } from './load.ts';
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
export { readServer } from './server.ts';
export {
  hasServiceTables,
  type RealmCount,
  readServiceFacts,
  SERVICE_SCHEMAS,
} from './service-tables.ts';
export { createSide, handOver } from './side.ts';
export {
  discard,
  drop,
  reopen,
  setPassword,
  sideBytes,
  swapBack,
  swapIn,
  swapNames,
} from './swap.ts';
export { findTraits } from './traits.ts';
