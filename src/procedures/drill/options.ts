import type { PrivateKeys } from '../../backupset/index.ts';
import type { Secret } from '../../core/index.ts';
import type { ChecklistRow } from '../restore/options.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';

export interface DrillOptions extends ProcedureOptions {
  /** Directory of the set. Default: the newest set that can be restored. */
  set?: string;
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
}

/** The report of a drill. It is also written to `ROOT/.state/drill-NAME.json`. */
export interface DrillResult extends ProcedureResult {
  set: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  outcome: 'passed' | 'failed';
  phases: readonly { id: string; milliseconds: number }[];
  milliseconds: number;
  checklist: readonly ChecklistRow[];
  checks: readonly SmokeCheck[];
  /** The path of the stored report. Absent if the backup root is not writable. */
  reportFile?: string;
  /** The isolated platform directory. Set only with `keep`. */
  dir?: string;
}

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
