import type { Secret } from '../../core/index.ts';
import type { ChecklistRow } from '../restore/options.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';

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

/** The drill in order: the specification's test restore in an isolated environment. */
export const DRILL_STEPS = [
  {
    id: 'isolate',
    title: 'Make an isolated platform directory',
    why: 'a test restore that can reach the platform is a danger to it',
  },
  {
    id: 'restore',
    title: 'Restore the set there and run the smoke tests',
    why: 'the drill must take the very way that a real restore takes',
  },
  {
    id: 'report',
    title: 'Write the report',
    why: 'an untold drill proves nothing to the next person',
  },
  {
    id: 'clean',
    title: 'Remove the isolated platform',
    why: 'it holds every secret of the real one',
  },
] as const satisfies readonly StepDescription[];
