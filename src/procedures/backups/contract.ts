import type { SealState } from '../../backupset/index.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';

/** One set of a backup root as `backups list` shows it. */
export interface BackupEntry {
  name: string;
  dir: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  ageSeconds: number;
  bytes: number;
  /** From the manifest; `unknown` without one. */
  parts: readonly string[];
  /** It carries a seal; whether that holds is verify's matter. */
  sealed: boolean;
  /** It can be restored: it holds the database. */
  whole: boolean;
  /** Dated more than an hour ahead of the clock. */
  future: boolean;
  verified?: { at: string; verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable'; seal?: SealState };
}

export interface ListBackupsOptions {
  root?: string;
  clock: ProcedureOptions['clock'];
}

export interface ListBackupsResult extends ProcedureResult {
  root: string;
  sets: readonly BackupEntry[];
}

export interface PruneOptions extends ProcedureOptions {
  root?: string;
  keepDays?: number;
  dryRun?: boolean;
}

/** Why a set stays or goes. */
export interface PruneDecision {
  name: string;
  action: 'keep' | 'delete';
  reason: string;
}

export interface PruneResult extends ProcedureResult {
  root: string;
  decisions: readonly PruneDecision[];
  /** Names that were deleted; with `dryRun` none. */
  deleted: readonly string[];
}
