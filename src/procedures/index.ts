// Procedures: backup, verify, restore, drill, smoke and the other commands of the operator.
// Decides the order of their steps, and what is rolled back, reported or kept when one fails.
// Does not decide how a kind of platform works, what the format of a set is, or how a report is rendered.
// Must not know: the kinds of platform, store, HTTP handlers, terminal.
// Start at run.ts, then backup/options.ts and backup/runbook.ts, then restore/steps.ts.

export type { Moment } from '../platform/index.ts';
export { type ListedArchive, listArchive } from './archive.ts';
export {
  BACKUP_PARTS,
  BACKUP_STEPS,
  type BackupOptions,
  type BackupPart,
  type BackupResult,
} from './backup/options.ts';
export { backup } from './backup/runbook.ts';
export type {
  BackupEntry,
  ListBackupsOptions,
  ListBackupsResult,
  PruneDecision,
  PruneOptions,
  PruneResult,
} from './backups/list.ts';
export { listBackups } from './backups/list.ts';
export { pruneBackups } from './backups/prune.ts';
export { LATEST, resolveSet, resolveSetBefore } from './backups/resolve-set.ts';
export { doctor } from './doctor/doctor.ts';
export { DOCTOR_CHECKS, type DoctorOptions, type DoctorResult } from './doctor/options.ts';
export type { DrillOptions, DrillResult } from './drill/options.ts';
export { DRILL_STEPS } from './drill/options.ts';
export { renderDrillReport } from './drill/report.ts';
export { drill } from './drill/runbook.ts';
export { type DiffSetsOptions, diffSets, type SetDifferences } from './inspect/diff.ts';
export {
  type ItemOutcome,
  type ItemPlan,
  type RestoreItemOptions,
  type RestoreItemResult,
  restoreItem,
} from './inspect/restore-item.ts';
export { type ShownSet, type ShowSetOptions, showSet } from './inspect/show.ts';
export { listRemoteBackups } from './mirror/list-remote.ts';
export { mirrorRoot } from './mirror/mirror.ts';
export { mirrorBackups } from './mirror/mirror-backups.ts';
export type { MirrorOptions, MirrorReport } from './mirror/options.ts';
export { fetchRemoteRoot, isNoRemoteSet } from './mirror/remote-set.ts';
export { type RecoverAdminResult, recoverAdmin } from './recover-admin.ts';
export type { ChecklistRow, RestoreOptions, RestorePlan, RestoreResult } from './restore/options.ts';
export { restore } from './restore/runbook.ts';
export { RESTORE_STEPS } from './restore/steps.ts';
export { type RotateMasterKeyResult, rotateMasterKey } from './rotate-master-key.ts';
export type {
  Finding,
  ProcedureOptions,
  ProcedureResult,
  Reporter,
  StepDescription,
  StepEvent,
  StepProgress,
} from './run.ts';
export {
  installSchedule,
  renderSchedule,
  type ScheduleChoices,
  scheduleOptions,
  showFiles,
} from './schedule/install.ts';
export type { FileChange, InstallResult, ScheduleOptions, Scheduler } from './schedule/options.ts';
export type { JobResult } from './schedule/run/run-job.ts';
export {
  runSchedule,
  runScheduleOnce,
  type ScheduleRunOptions,
  type ScheduleRunResult,
} from './schedule/run/scheduler.ts';
export { renderJunit } from './smoke/junit.ts';
export type { SmokeCheck, SmokeOptions, SmokeResult } from './smoke/options.ts';
export { smoke } from './smoke/runbook.ts';
export { renderStatusMetrics } from './status/render-metrics.ts';
export type { StatusReport } from './status/report.ts';
export { status } from './status/status.ts';
export type { PartsResult } from './up-down.ts';
export { DOWN_STEPS, down, UP_STEPS, up } from './up-down.ts';
export type { SetVerdict, VerifyOptions, VerifyResult } from './verify/options.ts';
export { VERIFY_STEPS } from './verify/options.ts';
export { verify } from './verify/runbook.ts';
export { verifyRemoteRoot } from './verify/verify-remote.ts';
