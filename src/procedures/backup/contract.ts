import type { Secret } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';

/** The parts of a set that `--only` names. */
export const BACKUP_PARTS = ['database', 'realms', 'config', 'env'] as const;

/** One of the parts of a set. */
export type BackupPart = (typeof BACKUP_PARTS)[number];

export interface BackupOptions extends ProcedureOptions {
  /** Seals the set. Needed if the environment is among the parts: without it IDKIT_SETTING, before anything is done. */
  passphrase?: Secret;
  /** The backup root; `settings.backup.root` unless told. */
  to?: string;
  /** Days; `settings.backup.keepDays` unless told. */
  keepDays?: number;
  /** A directory, or `[user@]host:path` for rsync; `settings.backup.mirror` unless told. */
  mirror?: string;
  /** All parts unless told. */
  only?: readonly BackupPart[];
  /** Where the service is found, before its own record. */
  baseUrl?: string;
}

export interface BackupResult extends ProcedureResult {
  /** The published set's absolute path. */
  dir: string;
  /** `YYYYMMDD_HHMMSS`. */
  name: string;
  parts: readonly BackupPart[];
  /** Where the realm files came from; absent where they are no part of the set. */
  realmSource?: 'api' | 'snapshot';
  /** All files of the set, in bytes. */
  bytes: number;
  milliseconds: number;
  steps: readonly { id: string; milliseconds: number }[];
  /** Names of the sets that the retention rule deleted. */
  pruned: readonly string[];
}
