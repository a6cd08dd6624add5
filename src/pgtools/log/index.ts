// The write-ahead log of a Postgres cluster: streaming it, base backups, and the recovery to a point in time. Must not
// know: where the log is archived. Start at replication.ts, then recover.ts.
export { type FollowEnd, type FollowOptions, followLog, type LogPiece, TooFarBehind } from './follow.ts';
export type { SupplyFile } from './log-supply.ts';
export { historyFileName, type Lsn, parseLsn, showLsn, walFileName, walFileStart } from './lsn.ts';
export { ServerError } from './messages.ts';
export {
  type FilledSource,
  type RecoveredCluster,
  type RecoverySource,
  type RecoveryTarget,
  recoverCluster,
  showTime,
} from './recover.ts';
export { type BaseArchive, type BaseEvent, type LogEvent, Replication, type TextRow } from './replication.ts';
export {
  type ClusterFacts,
  dropSlot,
  explainRefusal,
  isLogRemoved,
  readCluster,
  readSlot,
  replaceSlot,
  type SlotFacts,
} from './slot.ts';
