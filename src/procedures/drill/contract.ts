import type { Secret } from '../../core/index.ts';
import type { ChecklistRow } from '../restore/contract.ts';
import type { ProcedureOptions, ProcedureResult } from '../runbook.ts';
import type { SmokeCheck } from '../smoke/contract.ts';

export interface DrillOptions extends ProcedureOptions {
  /** The newest set that can be restored, unless told. */
  set?: string;
  root?: string;
  passphrase?: Secret;
  /** What counts as the process environment; this process's unless told. */
  env?: NodeJS.ProcessEnv;
  /** The operator vouches for a set without a seal. */
  trustUnsealed?: boolean;
  /** Leaves the isolated platform directory and names it. */
  keep?: boolean;
}

/** The drill's report, as it is also written to `ROOT/.state/drill-NAME.json`. */
export interface DrillResult extends ProcedureResult {
  set: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  outcome: 'passed' | 'failed';
  phases: readonly { id: string; milliseconds: number }[];
  milliseconds: number;
  checklist: readonly ChecklistRow[];
  checks: readonly SmokeCheck[];
  /** Absent where the root cannot be written. */
  reportFile?: string;
  /** With `keep`. */
  dir?: string;
}
