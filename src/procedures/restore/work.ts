import type { SealedList, SetHandle, Verdict } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Platform } from '../../platform/index.ts';
import type { Scratch } from '../../platform/open.ts';
import type { RestoreLocks } from '../locks.ts';
import type { Run } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import { type Journal, putJournal } from './journal.ts';
import type { ChecklistRow, RestoreOptions, RestorePlan } from './options.ts';

/** Id of a step in the restore runbook. Journals and failpoints contain it. */
export type RestoreStepId =
  | 'verify'
  | 'preflight'
  | 'stage'
  | 'load'
  | 'check'
  | 'swap'
  | 'start'
  | 'realms'
  | 'applications'
  | 'smoke'
  | 'finish';

/** Options that only a drill sets. */
export interface RestoreInternals {
  /** Changes the settings of the restored platform. Default: no change. */
  adjust?: (settings: Settings) => Settings;
  /** A database that is used only for this restore. */
  scratch?: Scratch;
  /** The platform whose archive has the moment. Default: the restored platform. */
  archiveOf?: Settings;
  /** True if no service is running on the restored database. The steps that need one are skipped with a note. */
  withoutService?: boolean;
  /**
   * Checks the restored platform further, while its service is running if it runs one. A failed check is a finding of
   * the restore.
   */
  examine?: (restore: Restore) => Promise<readonly SmokeCheck[]>;
  /** Lock mode of the backup root. Default: exclusive. */
  rootLock?: 'shared' | 'exclusive';
}

/** The platform as its settings describe it. */
export interface NextPlatform {
  settings: Settings;
  platform: Platform;
}

/** A set that passed its verification. */
export interface VerifiedSet {
  verdict: Verdict;
  /** The decrypted environment file. Absent if the current one is kept. */
  environment?: Uint8Array;
}

/** The results of the last checks. */
export interface Proof {
  checks: readonly SmokeCheck[];
  checklist: readonly ChecklistRow[];
}

/** The values that the steps of one restore share. Each step reads them and replaces those that it determines. */
export interface Restore {
  /** The target platform before the restore. */
  readonly settings: Settings;
  /** With `--resume`, the options include the choices of the interrupted restore. */
  readonly options: RestoreOptions & RestoreInternals;
  readonly run: Run<RestoreStepId>;
  readonly locks: RestoreLocks;
  /** Directory of the journal. */
  readonly dataDir: string;
  readonly sealed: SealedList;
  /** The interrupted restore that `--resume` continues. */
  readonly earlier: Journal | undefined;
  /** After the step `verify`, the handle returns only content that was verified. */
  set: SetHandle;
  /** Determined by `verify`. */
  verified: VerifiedSet;
  /** Determined by `preflight`. */
  plan: Omit<RestorePlan, 'steps'>;
  /** The target platform after the restore. Determined by `preflight`. */
  next: NextPlatform;
  /** The journal is on the disk from the step `stage` on. */
  journal: Journal;
  /** False if only the operator can start the service. */
  isServing: boolean;
  proof: Proof;
  /** Paths of previous files that stay after `finish`. */
  kept: readonly string[];
}

/** Creates the record of a restore. Reading a value before the step that determines it is a bug. */
export function beginRestore(
  start: Pick<
    Restore,
    'settings' | 'options' | 'run' | 'locks' | 'dataDir' | 'sealed' | 'set' | 'earlier' | 'journal'
  >,
): Restore {
  const verified = determinedBy<VerifiedSet>('verify');
  const plan = determinedBy<Restore['plan']>('preflight');
  const next = determinedBy<NextPlatform>('preflight');
  return {
    ...start,
    isServing: false,
    proof: { checks: [], checklist: [] },
    kept: [],
    get verified() {
      return verified.get();
    },
    set verified(value) {
      verified.set(value);
    },
    get plan() {
      return plan.get();
    },
    set plan(value) {
      plan.set(value);
    },
    get next() {
      return next.get();
    },
    set next(value) {
      next.set(value);
    },
  };
}

function determinedBy<T>(step: RestoreStepId): { get(): T; set(value: T): void } {
  let held: { value: T } | undefined;
  return {
    get() {
      if (held === undefined) throw new IdkitError('IDKIT_BUG', `the restore skipped the step ${step}`);
      return held.value;
    },
    set(value) {
      held = { value };
    },
  };
}

/** Changes the journal on the disk, then in memory. */
export async function record(restore: Restore, change: Partial<Journal>): Promise<void> {
  const journal = { ...restore.journal, ...change };
  await putJournal(restore.dataDir, journal);
  restore.journal = journal;
}
