import type { StepDescription } from '../run.ts';
import { finishRestore } from './finish.ts';
import type { Journal, Progress } from './journal.ts';
import { checkStaged, loadDump, swap } from './load.ts';
import { preflight } from './preflight.ts';
import { checkRealms, runSmoke, startApplications } from './prove.ts';
import { startRestored } from './services.ts';
import { stageFiles } from './stage.ts';
import { verifyForRestore } from './verified-set.ts';
import type { Restore, RestoreStepId } from './work.ts';

/** One row of the restore runbook. */
export interface RestoreStep extends StepDescription {
  id: RestoreStepId;
  /** Does the work, and returns one line about it for the operator. */
  run(restore: Restore): Promise<string | undefined>;
  /** The step is skipped if this returns false. */
  applies?(restore: Restore): boolean;
  /** What the driver does if the step fails or is interrupted. */
  undo: 'nothing to undo' | 'roll back' | 'keep the restored state';
  /** After a failure of this step or a later one, the restore cannot be rolled back. */
  pointOfNoReturn?: 'always' | 'with --in-place';
  /** `--resume` runs the step again if the interrupted restore had come this far. */
  resumesAfter: readonly Progress[];
  /** Changes of the journal that the driver makes before and after the step. */
  journal?: { before?: Partial<Journal>; after?: Partial<Journal> };
}

/** The steps of a restore, in order. `runbook.ts` drives them. */
export const RESTORE_STEPS: readonly RestoreStep[] = [
  {
    id: 'verify',
    title: 'Verify the backup set',
    why: 'a damaged set must be found before anything is stopped or changed',
    run: verifyForRestore,
    undo: 'nothing to undo',
    resumesAfter: ['nothing replaced', 'database emptied'],
  },
  {
    id: 'preflight',
    title: 'Check that the service is stopped, the version and the master key match, and the disk has space',
    why: 'a problem that is found before any change needs no rollback',
    run: preflight,
    undo: 'nothing to undo',
    resumesAfter: ['nothing replaced'],
  },
  {
    id: 'stage',
    title: 'Decrypt the environment file and unpack the configuration into a staging folder',
    why: 'the swap can only rename files that are whole and on the same disk',
    run: stageFiles,
    undo: 'roll back',
    resumesAfter: ['nothing replaced'],
    journal: { after: { step: 'stage' } },
  },
  {
    id: 'load',
    title: 'Load the dump into a staged database',
    why: 'the live database does not change until the staged one has passed its checks',
    run: loadDump,
    undo: 'roll back',
    pointOfNoReturn: 'with --in-place',
    resumesAfter: ['nothing replaced', 'database emptied'],
  },
  {
    id: 'check',
    title: 'Check the staged database against the manifest',
    why: 'a database that its key cannot decrypt, or that lacks users, must not go live',
    run: checkStaged,
    undo: 'roll back',
    resumesAfter: ['nothing replaced', 'database emptied'],
  },
  {
    id: 'swap',
    title: 'Rename the database, the environment file and the configuration into place',
    why: 'a rename happens completely or not at all, and the previous state is kept until the end',
    run: swap,
    undo: 'roll back',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
    journal: {
      before: { state: 'swapping', step: 'check' },
      after: { state: 'swapped', step: 'swap' },
    },
  },
  {
    id: 'start',
    title: 'Start the service and wait until it is ready',
    why: 'only a service that responds proves the restore',
    run: startRestored,
    undo: 'roll back',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
  },
  {
    id: 'realms',
    title: 'Check realms and user counts through the administrative API',
    why: 'the service must see everything that the backup contained',
    run: checkRealms,
    applies: ({ isServing }) => isServing,
    undo: 'roll back',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
  },
  {
    id: 'applications',
    title: 'Start and check the proxy and the applications',
    why: 'users also need the proxy and the applications',
    run: startApplications,
    applies: ({ options }) => options.withoutService !== true,
    undo: 'keep the restored state',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
  },
  {
    id: 'smoke',
    title: 'Run the smoke tests',
    why: 'a running process is not enough: the service must issue tokens that verify',
    run: runSmoke,
    applies: ({ options }) => options.withoutService !== true,
    undo: 'keep the restored state',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
  },
  {
    id: 'finish',
    title: 'Stop the service if this restore started it, and remove the previous state',
    why: 'a leftover would confuse the next procedure',
    run: finishRestore,
    undo: 'keep the restored state',
    pointOfNoReturn: 'always',
    resumesAfter: ['nothing replaced', 'database emptied', 'swap begun'],
  },
];
