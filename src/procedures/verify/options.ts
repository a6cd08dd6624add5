import type { ArchiveVerdict } from '../../archive/index.ts';
import type { SealState } from '../../backupset/index.ts';
import type { ErrorCode, Secret } from '../../core/index.ts';
import type { DrillResult } from '../drill/options.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

export interface VerifyOptions extends ProcedureOptions {
  /** Directory of one set. Takes precedence over `all`. */
  set?: string;
  /** The backup root. Default: `settings.backup.root`. */
  root?: string;
  /** Verifies every set of the root. Default: only the newest set that can be restored. */
  all?: boolean;
  maxAgeSeconds?: number;
  /**
   * The passphrase of the sets. Without it, env.gpg and the seal are inspected but not decrypted, and a note says so.
   */
  passphrase?: Secret;
  /** Also restores the set in isolation. */
  drill?: boolean;
  /** Environment variables of the drill. Default: those of this process. */
  env?: NodeJS.ProcessEnv;
}

export interface SetVerdict {
  name: string;
  dir: string;
  verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** Shows whether the author of the set knew the passphrase. */
  seal: SealState;
  /** The error code of the verdict. Absent for a good set. */
  code?: ErrorCode;
  problems: readonly string[];
  /** Hints for these problems. General hints are in the failure of the result. */
  hints: readonly string[];
  notes: readonly string[];
  /** Undefined if the name of the set is not a time. */
  ageSeconds?: number;
  files: number;
  bytes: number;
}

export interface VerifyResult extends ProcedureResult {
  sets: readonly SetVerdict[];
  /** One line for people and cron. */
  verdict: string;
  /** The check of the archive, with `all`. */
  archive?: ArchiveVerdict;
  drill?: DrillResult;
}

/** The steps of a verification, in order. */
export const VERIFY_STEPS = [
  {
    id: 'find',
    title: 'Find the sets to verify',
    why: 'a missing or outdated set is the most common problem with backups',
  },
  {
    id: 'read',
    title: 'Read every byte of each set and compare it with checksums and manifest',
    why: 'a failing disk reports no error until it is read',
  },
  {
    id: 'archive',
    title: 'Read every file of the archive',
    why: 'a moment can only be restored if each file before it is whole',
  },
  {
    id: 'drill',
    title: 'Restore the set in isolation',
    why: 'only a restore proves that a set can be restored',
  },
] as const satisfies readonly StepDescription[];
