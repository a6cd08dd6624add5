// Service: one process that serves tokens, from its start to its last response.
// Owns: the listener and its drain, workers, the sweeper, the log, the lock of a service, the directory of realm files.
// Must not know: platforms, procedures, what a token contains.
// Start at start.ts (the door), then server.ts (the order of a start).
export { lockFile, makeDataDirectory, serviceLockFile, whileStopped } from './lock.ts';
export type { LogDestination, LogOptions, OpenedLog } from './log.ts';
export {
  checkThemes,
  findWorkerLink,
  listRequiredActions,
  openLog,
  type RunningService,
  type ServeOptions,
  startService,
  startWorkers,
} from './start.ts';
export type { WorkerLink } from './workers/worker.ts';
