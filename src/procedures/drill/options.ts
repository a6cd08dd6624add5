import type { PrivateKeys, SealState } from '../../backupset/index.ts';
import type { Secret } from '../../core/index.ts';
import type { Moment } from '../../platform/index.ts';
import type { ChecklistRow } from '../restore/options.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';

export interface DrillOptions extends ProcedureOptions {
  /** Directory of the set. Default: the newest set that can be restored. */
  set?: string;
  /** Restores the database of this moment from the archive, and everything else from the set. */
  moment?: Moment;
  /** Default: `settings.backup.root`. */
  root?: string;
  passphrase?: Secret;
  /** Decrypts sets that are encrypted to public keys. */
  privateKeys?: PrivateKeys;
  /** Environment variables of the isolated platform. Default: those of this process. */
  env?: NodeJS.ProcessEnv;
  /** Trusts a set without a seal, because the operator vouches for it. */
  trustUnsealed?: boolean;
  /** Keeps the isolated platform directory and reports its path. */
  keep?: boolean;
  /** The directory of the reports. Default: `.drills` in the backup root. */
  reportDir?: string;
  /** Duration in milliseconds above which the drill has a finding. Default: 30 minutes. */
  limitMilliseconds?: number;
}

/** What a drill proves: the kind of platform whose sets it restored. */
export type DrillKind = 'embedded' | 'postgres' | 'containers';

/** What was restored. Members that the drill did not learn, because it failed before, are absent. */
export interface DrillSource {
  /** The directory of the set. */
  set: string;
  root: string;
  /** The moment of the options: ISO 8601 in UTC, or `before EVENT-ID`. Absent without one. */
  moment?: string;
  /** The last transaction that was restored from the archive. ISO 8601, UTC. Absent without a moment. */
  restoredTo?: string;
  /** ISO 8601, UTC. */
  madeAt?: string;
  seal?: SealState;
  bytes?: number;
  /** Size of the dump's SQL in bytes. */
  sqlBytes?: number;
  /** The version that made the set. */
  idkitVersion?: string;
  service?: string;
  database?: string;
  realms?: readonly { realm: string; users?: number }[];
}

/** The live database before and after a drill. */
export interface LiveEvidence {
  outcome: 'passed' | 'failed' | 'not checked';
  detail: string;
  before?: Readonly<Record<string, string>>;
  after?: Readonly<Record<string, string>>;
}

/** The files of a stored report. */
export interface StoredReport {
  dir: string;
  html: string;
  json: string;
  /** True if the directory contains `seal.gpg`, which the passphrase of the set decrypts. */
  sealed: boolean;
}

/** The report of a drill. It is also written to `ROOT/.state/drill-NAME.json`. */
export interface DrillResult extends ProcedureResult {
  set: string;
  kind: DrillKind;
  source: DrillSource;
  /** The isolated place, in words. */
  place: string;
  /** The machine and the version that ran the drill. */
  by: { host: string; idkitVersion: string };
  live: LiveEvidence;
  /** What differs between the set and the platform, or needs attention, without being a fault. */
  differences: readonly string[];
  /** ISO 8601, UTC. */
  startedAt: string;
  outcome: 'passed' | 'failed';
  phases: readonly { id: string; milliseconds: number }[];
  milliseconds: number;
  checklist: readonly ChecklistRow[];
  checks: readonly SmokeCheck[];
  /** The path of the stored report. Absent if the backup root is not writable. */
  reportFile?: string;
  /** The stored report for people and auditors. Absent if its directory is not writable. */
  report?: StoredReport;
  /** The isolated platform directory. Set only with `keep`. */
  dir?: string;
}

/** The limits of the specification for the phases of a restore and for all of it, in milliseconds. */
export const DRILL_LIMITS = {
  verify: 2 * 60_000,
  load: 10 * 60_000,
  start: 2 * 60_000,
  smoke: 5 * 60_000,
  total: 30 * 60_000,
} as const;

/** The steps of a drill, in order. A drill is a test restore in an isolated platform. */
export const DRILL_STEPS = [
  {
    id: 'isolate',
    title: 'Create an isolated platform directory',
    why: 'a test restore must not be able to reach the platform',
  },
  {
    id: 'restore',
    title: 'Restore the set there and run the smoke tests',
    why: 'the drill must follow the steps of a real restore',
  },
  {
    id: 'report',
    title: 'Write the report',
    why: 'the report is the evidence of the drill',
  },
  {
    id: 'clean',
    title: 'Remove the isolated platform',
    why: 'it contains every secret of the real one',
  },
] as const satisfies readonly StepDescription[];
