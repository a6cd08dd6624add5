import type { Secret } from '../../core/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';
import type { SmokeCheck, SmokeResult } from '../smoke/options.ts';
import type { Brought } from './effects.ts';

export interface RestoreOptions extends ProcedureOptions {
  /** The set's directory; may be left out with `resume` and `abort`. */
  from?: string;
  /** Needed unless `keepEnv`; without it no seal is checked. */
  passphrase?: Secret;
  /** All checks of the preflight, nothing else. */
  dryRun?: boolean;
  /** Goes on with the restore that the journal tells of. */
  resume?: boolean;
  /** Brings back the state before the restore that the journal tells of. */
  abort?: boolean;
  keepEnv?: boolean;
  /** The operator vouches for a set whose seal is missing or was not checked. */
  trustUnsealed?: boolean;
  keepConfig?: boolean;
  /**
   * The live database is emptied and loaded itself, for want of room beside it: the name of the database, as the
   * operator confirms it. Once it is emptied nothing leads back.
   */
  inPlace?: string;
  /** What counts as the process environment of the restored platform; this process's unless told. */
  env?: NodeJS.ProcessEnv;
  /** Asked once the preflight has passed; answering false ends with IDKIT_USAGE, nothing touched. */
  confirm?: (plan: RestorePlan) => Promise<boolean>;
}

/** What a restore is about to do. */
export interface RestorePlan {
  set: string;
  target: string;
  database: string;
  realms: readonly { realm: string; users: number }[];
  /** Bytes that the side database and the staged files need, and what is free. */
  neededBytes: number;
  freeBytes: number;
  /** The live database is emptied first. */
  inPlace: boolean;
  /** What the set brings that decides what runs, what is reached or what is served. */
  brings: readonly Brought[];
  /** What was not checked, because only the set names the server. */
  unasked: readonly string[];
  steps: readonly StepDescription[];
}

/** One row of the specification's post-restore checklist. */
export interface ChecklistRow {
  id: string;
  /** The row in the specification's words. */
  title: string;
  outcome: 'done' | 'failed' | 'does not apply';
  /** Evidence, the fault, or why it does not apply. */
  detail: string;
}

export interface RestoreResult extends ProcedureResult {
  /** `restored`: in place (findings tell of red checks); `planned`: dry run; `aborted`: the old state is back. */
  outcome: 'restored' | 'planned' | 'aborted';
  id?: string;
  set?: string;
  plan?: RestorePlan;
  /** Empty unless restored. */
  checklist: readonly ChecklistRow[];
  checks: readonly SmokeCheck[];
  steps: readonly { id: string; milliseconds: number }[];
  milliseconds: number;
  /** Paths kept aside that the operator may want. */
  kept: readonly string[];
}

export type { SmokeResult };
