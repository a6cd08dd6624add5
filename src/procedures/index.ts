// Procedures: backup, verify, restore, drill, smoke; each a runbook and a file per step.
// Owns: the order of the steps and what each one proves.
// Must not know: runtime implementations, store, HTTP, terminal.
// Start at reporter.ts and runbook.ts, then backup/steps.ts and backup/runbook.ts.
export {
  BACKUP_PARTS,
  type BackupOptions,
  type BackupPart,
  type BackupResult,
} from './backup/contract.ts';
export { backup } from './backup/runbook.ts';
export { BACKUP_STEPS } from './backup/steps.ts';
export type {
  BackupEntry,
  ListBackupsOptions,
  ListBackupsResult,
  PruneDecision,
  PruneOptions,
  PruneResult,
} from './backups/contract.ts';
export { listBackups } from './backups/list.ts';
export { pruneBackups } from './backups/prune.ts';
export type { DrillOptions, DrillResult } from './drill/contract.ts';
export { renderDrillReport } from './drill/render-report.ts';
export { drill } from './drill/runbook.ts';
export { DRILL_STEPS } from './drill/steps.ts';
export { type RotateMasterKeyResult, rotateMasterKey } from './master-key/rotate.ts';
export type { PartsResult } from './parts/contract.ts';
export { down } from './parts/down.ts';
export { DOWN_STEPS, UP_STEPS } from './parts/steps.ts';
export { up } from './parts/up.ts';
export { type RecoverAdminResult, recoverAdmin } from './recover-admin/recover-admin.ts';
export type { Finding, Reporter } from './reporter.ts';
export type { ChecklistRow, RestoreOptions, RestorePlan, RestoreResult } from './restore/contract.ts';
export { restore } from './restore/runbook.ts';
export { RESTORE_STEPS } from './restore/steps.ts';
export type { ProcedureOptions, ProcedureResult, StepDescription } from './runbook.ts';
export { renderSchedule } from './schedule/schedule.ts';
export type { SmokeCheck, SmokeOptions, SmokeResult } from './smoke/contract.ts';
export { renderJunit } from './smoke/junit.ts';
export { smoke } from './smoke/runbook.ts';
export type { StatusReport } from './status/contract.ts';
export { status } from './status/status.ts';
export type { SetVerdict, VerifyOptions, VerifyResult } from './verify/contract.ts';
export { verify } from './verify/runbook.ts';
export { VERIFY_STEPS } from './verify/steps.ts';
