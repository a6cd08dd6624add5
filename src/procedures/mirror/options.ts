import type { PruneStep } from '../../backupset/index.ts';
import type { KeepRule } from '../../config/index.ts';
import type { Finding, ProcedureResult } from '../run.ts';

export interface MirrorOptions {
  root: string;
  /** See `parseLocation`; a directory is absolute. */
  target: string;
  /** Unix time in milliseconds. */
  now: number;
  signal: AbortSignal;
  /** Which sets stay at the target. */
  keep: KeepRule;
  /** Deletes the other ones. Without it, nothing at the target is ever deleted. */
  deletes: boolean;
  /** Maximum number of sets that one run deletes. If the rule would delete more, none is deleted. */
  maxDelete: number;
  /** Reads every byte at the target, even if less than a week has passed since the last time. */
  readsAll?: boolean;
  /** Plans the deletions and copies nothing. */
  dryRun?: boolean;
  /** The environment with the keys of the target. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Receives the number of bytes that were copied, and their total. */
  onProgress?: (done: number, total: number) => void;
}

/** How much of the target was read back and compared. */
export interface ReadBack {
  /** `all`: every byte of every set. */
  kind: 'sample' | 'all';
  files: number;
  bytes: number;
}

/** The result of one run. */
export interface MirrorReport extends ProcedureResult {
  /** The target, without secrets. */
  target: string;
  /** Names of the sets and versions that this run copied. */
  copied: readonly string[];
  /** The sets at the target, and what the rule says about them. Oldest first. */
  decisions: readonly PruneStep[];
  /** Names of the sets that were deleted there. */
  deleted: readonly string[];
  readBack: ReadBack;
  findings: readonly Finding[];
}

/** The sets that were not copied, or are not whole at the target. */
export const MIRROR_FAILED = 'MIRROR_FAILED';
/** A set at the target is damaged, was replaced or was deleted by another program. */
export const MIRROR_DAMAGED = 'MIRROR_DAMAGED';
/** The rule would delete more sets than the bound allows. */
export const MIRROR_DELETE_BOUND = 'MIRROR_DELETE_BOUND';
