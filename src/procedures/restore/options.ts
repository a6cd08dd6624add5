import { IdkitError, type Secret } from '../../core/index.ts';
import type { Moment } from '../../platform/index.ts';
import type { ProcedureOptions, ProcedureResult, StepDescription } from '../run.ts';
import type { SmokeCheck } from '../smoke/options.ts';
import type { Effect } from './effects.ts';

export interface RestoreOptions extends ProcedureOptions {
  /** Directory of the set. Optional with `resume` and `abort`. */
  from?: string;
  /** Restores the database of this moment from the archive, and everything else from the set. */
  moment?: Moment;
  /** The passphrase of the set. Required unless `keepEnv` is set. Without it, the seal is not checked. */
  passphrase?: Secret;
  /** Runs `verify` and `preflight` and returns the plan. */
  dryRun?: boolean;
  /** Continues the restore that the journal records. */
  resume?: boolean;
  /** Rolls back the restore that the journal records. */
  abort?: boolean;
  keepEnv?: boolean;
  /** Trusts a set whose seal is missing or was not checked, because the operator vouches for it. */
  trustUnsealed?: boolean;
  keepConfig?: boolean;
  /**
   * Name of the live database, which is emptied and loaded directly because there is no space for a second one. The
   * operator confirms the name. No rollback is possible after the database was emptied.
   */
  inPlace?: string;
  /** Environment variables of the restored platform. Default: those of this process. */
  env?: NodeJS.ProcessEnv;
  /**
   * Asks the operator to confirm the plan, after `preflight`. If it returns false, the restore ends with IDKIT_USAGE
   * and changes nothing.
   */
  confirm?: (plan: RestorePlan) => Promise<boolean>;
}

/** The changes that a restore is about to make. */
export interface RestorePlan {
  set: string;
  target: string;
  database: string;
  realms: readonly { realm: string; users: number }[];
  /** Space in bytes that the staged database and the staged files need. */
  neededBytes: number;
  freeBytes: number;
  /** True if the live database is emptied before the load. */
  inPlace: boolean;
  /** Everything in the set that decides which programs run, which addresses are contacted and what is served. */
  brings: readonly Effect[];
  /** Checks that were skipped because only the set names the server. */
  unasked: readonly string[];
  steps: readonly StepDescription[];
  /** The time of the last transaction that is restored from the archive, in milliseconds since 1970. */
  moment?: number;
}

/** One row of the post-restore checklist. */
export interface ChecklistRow {
  id: string;
  /** The rule that the row checks. */
  title: string;
  outcome: 'done' | 'failed' | 'does not apply';
  /** The evidence, the fault, or the reason why the row does not apply. */
  detail: string;
}

export interface RestoreResult extends ProcedureResult {
  /** `restored`: in place, with a finding for each failed check. `planned`: dry run. `aborted`: rolled back. */
  outcome: 'restored' | 'planned' | 'aborted';
  id?: string;
  set?: string;
  plan?: RestorePlan;
  /** The post-restore checklist. Empty unless the outcome is `restored`. */
  checklist: readonly ChecklistRow[];
  checks: readonly SmokeCheck[];
  steps: readonly { id: string; milliseconds: number }[];
  milliseconds: number;
  /** Paths of previous files that the operator may still need. */
  kept: readonly string[];
}

/**
 * Checks the options without reading a file.
 *
 * @throws IDKIT_USAGE or IDKIT_SETTING for options that contradict each other
 */
export function checkOptions(options: RestoreOptions): void {
  const { from, resume, abort, dryRun, keepEnv, passphrase, inPlace, moment } = options;
  if (inPlace !== undefined && (resume === true || abort === true)) {
    throw new IdkitError('IDKIT_USAGE', '--in-place cannot be combined with --resume or --abort', {
      hints: ['--resume continues with the choices of the interrupted restore'],
    });
  }
  if (resume === true && abort === true) {
    throw new IdkitError('IDKIT_USAGE', '--resume and --abort exclude each other');
  }
  if (dryRun === true && (resume === true || abort === true)) {
    throw new IdkitError('IDKIT_USAGE', '--dry-run cannot be combined with --resume or --abort');
  }
  if (inPlace !== undefined && moment !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--in-place cannot be combined with --at', {
      hints: ['--in-place loads the dump of a set into the live database'],
    });
  if (from === undefined && resume !== true && abort !== true) {
    throw new IdkitError('IDKIT_USAGE', 'restore needs --from with the directory of a backup set', {
      hints: ['idkit backups list shows the sets'],
    });
  }
  if (passphrase === undefined && keepEnv !== true && resume !== true && abort !== true)
    throw missingPassphrase();
}

/** Returns the error for a missing passphrase, with every way to provide it and the way to restore without it. */
export function missingPassphrase(): IdkitError {
  return new IdkitError('IDKIT_SETTING', 'the passphrase of env.gpg is missing', {
    hints: [
      'set IDKIT_BACKUP_PASSPHRASE in the process environment',
      'or set IDKIT_BACKUP_PASSPHRASE_FILE to a file with the passphrase in its first line',
      'or set IDKIT_BACKUP_PASSPHRASE_COMMAND to a command that prints the passphrase',
      'or add --keep-env --trust-unsealed to keep the current .env and restore the set without checking its seal',
    ],
  });
}
