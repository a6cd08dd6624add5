// Postgres: connections to a server, for the store and for work on a whole database. Owns: which host is used, how a
// connection is encrypted and authenticated, which locks a database has, what a server's error means. Must not know:
// tables, queries, and what is stored. Start at connections.ts. driver.ts exports everything that loads `pg`; wire.ts
// opens a connection for another program.
export {
  isConnectionLost,
  isLostRace,
  isStalePlan,
  isUnreachable,
  mapFault,
  oneRow,
} from './faults.ts';
export { lockPostgres, lockSchedule, openWire, type PostgresLocation } from './location.ts';
export { ADVISORY, CLOSED_COMMENT, type PostgresLock, SERVICE_LOCK } from './locks.ts';
export { endInTime } from './primary.ts';
export type { Wire, WireOptions } from './wire.ts';
