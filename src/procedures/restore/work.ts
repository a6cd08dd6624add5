import type { SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import type { Platform, RealmCount } from '../../platform/index.ts';
import type { Scratch } from '../../platform/open.ts';
import type { Run } from '../run.ts';
import type { Journal } from './journal.ts';
import type { RestoreOptions } from './options.ts';
import type { RESTORE_STEPS } from './steps.ts';

/** A step's id in the restore runbook. */
export type RestoreStepId = (typeof RESTORE_STEPS)[number]['id'];

/** What only procedures of this room set: a drill restores into a place of its own. */
export interface RestoreInternals {
  /** Changes the settings that the restored platform would have; identity unless told. */
  adjust?: (settings: Settings) => Settings;
  /** The database is there for this restore alone. */
  scratch?: Scratch;
  /** There is nothing that serves the restored database: what needs a service is left out, with a note. */
  withoutService?: boolean;
  /** How the set's root is locked; exclusive unless told. */
  rootLock?: 'shared' | 'exclusive';
}

/** What the steps of one restore share. */
export interface RestoreJob {
  /** The target as it is. */
  settings: Settings;
  options: RestoreOptions & RestoreInternals;
  run: Run<RestoreStepId>;
  set: SetHandle;
  id: string;
  dataDir: string;
  /** Realms and user counts that the set promises. */
  expectation: readonly RealmCount[];
}

/** The target as it will be, and the platform that these settings make. */
export interface NextPlatform {
  settings: Settings;
  runtime: Platform;
}

/** A restore whose new state lies ready beside the old one. */
export interface StagedRestore {
  job: RestoreJob;
  next: NextPlatform;
  journal: Journal;
}
