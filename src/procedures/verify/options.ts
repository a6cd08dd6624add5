import type { SealState } from '../../backupset/index.ts';
import type { ErrorCode, Secret } from '../../core/index.ts';
import type { DrillResult } from '../drill/options.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';

export interface VerifyOptions extends ProcedureOptions {
  /** One set by its directory; wins over `all`. */
  set?: string;
  /** The backup root; `settings.backup.root` unless told. */
  root?: string;
  /** Every set of the root; otherwise the newest that can be restored. */
  all?: boolean;
  maxAgeSeconds?: number;
  /** Absent: env.gpg and the seal are checked but not opened, and a note says so. */
  passphrase?: Secret;
  /** Also restore the set in isolation. */
  drill?: boolean;
  /** What counts as the process environment of the drill; this process's unless told. */
  env?: NodeJS.ProcessEnv;
}

/** The verdict over one set. */
export interface SetVerdict {
  name: string;
  dir: string;
  verdict: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** Whether who made it knew the passphrase. */
  seal: SealState;
  /** Why it is not good. */
  code?: ErrorCode;
  problems: readonly string[];
  /** What to do about them, beyond what holds for every bad set. */
  hints: readonly string[];
  notes: readonly string[];
  /** Seconds since the set was begun; undefined where its name tells no time. */
  ageSeconds?: number;
  files: number;
  bytes: number;
}

export interface VerifyResult extends ProcedureResult {
  sets: readonly SetVerdict[];
  /** The one line for people and cron. */
  verdict: string;
  drill?: DrillResult;
}

/** The verification in order (spec "Backup verification"). */
export const VERIFY_STEPS = [
  {
    id: 'find',
    title: 'Find the sets to verify',
    why: 'no set, or one that is too old, is the commonest way to have no backup',
  },
  {
    id: 'read',
    title: 'Read every byte of each set and compare it with checksums and manifest',
    why: 'a disk that rots says nothing until it is read',
  },
  {
    id: 'drill',
    title: 'Restore the set in isolation',
    why: 'only a restore proves that a set restores',
  },
] as const satisfies readonly StepDescription[];
