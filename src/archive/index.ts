// Archive: the log of every transaction of a database, on a target, so that each moment can be restored.
// Owns: the format: chains, each with a base and numbered files of log, every file encrypted, authenticated and bound to
// the one before it. Decides what counts as damage.
// Must not know: SQLite, Postgres, settings, backup sets.
// Start at contract.ts, then format/sealed-file.ts.

export {
  type BaseWriter,
  type ChainEnd,
  ChainWriter,
  type LogPart,
  type SealedPart,
} from './chain-writer.ts';
export { type ArchiveVerdict, checkArchive } from './check-archive.ts';
export {
  type BaseEnd,
  type Detail,
  type FileHeader,
  type FileKind,
  LARGEST_PART,
  type LogEnd,
  type LogName,
  type Mark,
  type OpenedFile,
} from './contract.ts';
export { chainBegin, chainName, readBaseName, renderTime } from './format/names.ts';
export { damaged } from './format/sealed-file.ts';
export { type ArchiveKeys, deriveArchiveKeys } from './keys.ts';
export { type ArchiveGap, type ArchiveState, readArchiveState, writeArchiveState } from './local-state.ts';
export { archivePosition } from './position.ts';
export { ArchiveReader, type ChainListing, listChains } from './read-chain.ts';
export {
  type Moment,
  planRecovery,
  type RecoveryPlan,
  type RestorableRange,
  restorableRanges,
} from './recovery-plan.ts';
export { applyRetention, type ChainStep, forgetBase, forgetChain, planRetention } from './retention.ts';
