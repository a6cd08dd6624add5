import { checkSeal, pinSet } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { writing } from '../../files/index.ts';
import { lockForRestore } from '../locks.ts';
import { beginRun } from '../run.ts';
import { abortRestore } from './abort.ts';
import { keepRestored, rollBackAfter } from './failure.ts';
import { isEmptied, type Journal, listJournals, progressOf, putJournal } from './journal.ts';
import { checkComplete, checkNothingHalfDone, findUnfinished, openRestoreSet } from './leftovers.ts';
import {
  checkOptions,
  missingPassphrase,
  type RestoreOptions,
  type RestorePlan,
  type RestoreResult,
} from './options.ts';
import { checkServiceStopped, openNext } from './preflight.ts';
import { proveWithoutService } from './prove.ts';
import { stopServices } from './services.ts';
import { dataDirectory, loadSettingsAfter, stagedFiles } from './settings-after.ts';
import { RESTORE_STEPS, type RestoreStep } from './steps.ts';
import { beginRestore, type Restore, type RestoreInternals, record } from './work.ts';

/**
 * Restores a set into the platform directory. Also resumes or rolls back an interrupted restore.
 *
 * @throws before any change: IDKIT_USAGE, IDKIT_SETTING, IDKIT_NOT_FOUND, IDKIT_LOCKED, IDKIT_DAMAGED,
 *   IDKIT_CREDENTIALS, IDKIT_SERVICE_RUNNING, IDKIT_VERSION, IDKIT_NO_SPACE; later IDKIT_RESTORE_UNDONE after a
 *   rollback, IDKIT_RESTORE_BROKEN if the operator must act
 */
export async function restore(settings: Settings, options: RestoreOptions): Promise<RestoreResult> {
  return restoreInto(settings, options);
}

/** Does the same as `restore`, with the options that only a drill sets. */
export async function restoreInto(
  settings: Settings,
  options: RestoreOptions & RestoreInternals,
): Promise<RestoreResult> {
  checkOptions(options);
  if (options.abort === true) return abortRestore(settings, options);
  const began = performance.now();
  const run = beginRun(RESTORE_STEPS, options, (id) => mayRun(id, options));
  const dataDir = dataDirectory(settings);
  const named = options.resume === true ? await findUnfinished(dataDir) : undefined;
  const set = await openRestoreSet(options, named);
  const sealed = await checkSeal(set, options.passphrase);
  // The manifest is trusted only if the seal is valid. The step `verify` reports an invalid seal.
  if (progressOf(named) === 'nothing replaced' && sealed.problems.length === 0)
    await checkComplete(pinSet(set, sealed.list?.entries ?? []), (named ?? options).keepEnv === true);
  const mode = options.rootLock ?? 'exclusive';
  const locks = await lockForRestore(settings, set.dir, { reporter: options.reporter, mode });
  try {
    const unfinished = await findUnfinished(dataDir);
    if (options.resume !== true) checkNothingHalfDone(dataDir, unfinished, options);
    const earlier = options.resume === true ? unfinished : undefined;
    const journal = journalOf(earlier, options, set.dir);
    const work = { settings, options: { ...options, ...choicesOf(earlier) }, run, locks, dataDir, sealed };
    const outcome = await followSteps(beginRestore({ ...work, set, earlier, journal }));
    return {
      ...outcome,
      steps: run.durations,
      findings: run.findings,
      milliseconds: Math.round(performance.now() - began),
    };
  } finally {
    await locks.release();
  }
}

/** False for a step that this restore skips in any case. */
function mayRun(id: RestoreStep['id'], options: RestoreOptions & RestoreInternals): boolean {
  const step = RESTORE_STEPS.find((one) => one.id === id);
  if (options.dryRun === true) return step?.undo === 'nothing to undo';
  return options.withoutService !== true || (id !== 'applications' && id !== 'smoke');
}

type Outcome = Omit<RestoreResult, 'steps' | 'findings' | 'milliseconds'>;

/** Runs every step. With `--resume` it runs the steps that the interrupted restore still needs. */
async function followSteps(restore: Restore): Promise<Outcome> {
  const { options } = restore;
  const progress = progressOf(restore.earlier);
  const steps = RESTORE_STEPS.filter(({ resumesAfter }) => resumesAfter.includes(progress));
  if (progress !== 'nothing replaced') await reopen(restore);
  else if (options.keepEnv !== true && options.passphrase === undefined && options.privateKeys === undefined)
    throw missingPassphrase();
  await drive(
    restore,
    steps.filter(({ undo }) => undo === 'nothing to undo'),
  );
  if (options.dryRun === true) {
    const { set } = restore;
    return { outcome: 'planned', plan: planOf(restore), set: set.dir, checklist: [], checks: [], kept: [] };
  }
  if (progress === 'nothing replaced') await openJournal(restore);
  try {
    await drive(
      restore,
      steps.filter(({ undo }) => undo !== 'nothing to undo'),
    );
  } finally {
    await restore.next.platform.service.stop();
  }
  const { journal, set, kept } = restore;
  const proof = options.withoutService === true ? await proveWithoutService(restore) : restore.proof;
  return { outcome: 'restored', id: journal.id, set: set.dir, ...proof, kept };
}

/** Runs steps in order, updates the journal, and handles the first failure as the failed step specifies. */
async function drive(restore: Restore, steps: readonly RestoreStep[]): Promise<void> {
  for (const step of steps) {
    if (step.applies?.(restore) === false) continue;
    try {
      await restore.run.step(
        step.id,
        async () => {
          if (step.journal?.before !== undefined) {
            // Memory is updated first. If the write fails, the disk holds the old or the new journal, and a rollback
            // works with both.
            restore.journal = { ...restore.journal, ...step.journal.before };
            await putJournal(restore.dataDir, restore.journal);
          }
          const summary = await step.run(restore);
          if (step.journal?.after !== undefined) await record(restore, step.journal.after);
          return summary;
        },
        (summary) => summary,
      );
    } catch (error) {
      throw await endAfter(error, step, restore);
    }
  }
}

/** Returns the final error, after the rollback if the step requires one. */
async function endAfter(error: unknown, step: RestoreStep, restore: Restore): Promise<unknown> {
  if (step.undo === 'keep the restored state') return keepRestored(error);
  if (step.undo === 'nothing to undo' && !isEmptied(restore.journal)) return error;
  return rollBackAfter(error, step.id, restore);
}

/** Asks the operator for confirmation, prevents other services from using the database, and writes the journal. */
async function openJournal(restore: Restore): Promise<void> {
  const { options, next, locks, dataDir, verified } = restore;
  if (options.confirm !== undefined && !(await options.confirm(planOf(restore))))
    throw new IdkitError('IDKIT_USAGE', 'the restore was not confirmed, and nothing was changed');
  locks.hold(await next.platform.database.keepServicesOut());
  const { checksumsSha256: accepted } = verified.verdict;
  await writing(dataDir, async () =>
    record(restore, {
      startedAt: new Date(options.clock.now()).toISOString(),
      ...(accepted === undefined ? {} : { accepted }),
      // If an interrupted restore stopped the service, a rollback of this restore must start it again.
      ...((await stoppedEarlier(dataDir)) ? { ran: true } : {}),
    }),
  );
}

/** Returns the plan with the id, title and reason of each step, but without the other columns of the runbook. */
function planOf({ plan }: Restore): RestorePlan {
  return { ...plan, steps: RESTORE_STEPS.map(({ id, title, why }) => ({ id, title, why })) };
}

async function stoppedEarlier(dataDir: string): Promise<boolean> {
  const journals = await listJournals(dataDir);
  return journals.some(({ state, ran }) => state !== 'kept' && state !== 'done' && ran === true);
}

/** Prepares to resume a restore that has already changed the platform. */
async function reopen(restore: Restore): Promise<void> {
  const { settings, options, journal, locks } = restore;
  await checkServiceStopped(settings);
  const files = await stagedFiles({ dir: settings.dir, id: journal.id });
  restore.next = await openNext(
    restore,
    await loadSettingsAfter(settings, files, options.env ?? process.env),
  );
  locks.hold(await restore.next.platform.database.keepServicesOut());
  if (progressOf(journal) === 'swap begun') await stopServices(restore);
}

/** Returns the choices of the interrupted restore, which a resumed restore keeps. */
function choicesOf(earlier: Journal | undefined): Partial<RestoreOptions> {
  if (earlier === undefined) return {};
  const { keepEnv, keepConfig, inPlace } = earlier;
  return { keepEnv, keepConfig, ...(inPlace === undefined ? {} : { inPlace }) };
}

/** Returns the journal to continue, or a new journal with a new id if nothing was replaced yet. */
function journalOf(earlier: Journal | undefined, options: RestoreOptions, set: string): Journal {
  if (earlier !== undefined && progressOf(earlier) !== 'nothing replaced') return earlier;
  const { keepEnv, keepConfig, inPlace } = { ...options, ...choicesOf(earlier) };
  return {
    format: 1,
    id: newId(options),
    set,
    startedAt: new Date(options.clock.now()).toISOString(),
    state: 'staging',
    step: 'preflight',
    database: '',
    keepEnv: keepEnv === true,
    keepConfig: keepConfig === true,
    ...(inPlace === undefined ? {} : { inPlace }),
    items: [],
    touched: false,
    expectation: [],
  };
}

/** Ids sort by time and never repeat, so two restores in one second use different files. */
function newId(options: RestoreOptions): string {
  const stamp = new Date(options.clock.now())
    .toISOString()
    .replace(/[-:]|\.\d+Z$/g, '')
    .replace('T', '_');
  return `${stamp}-${options.random.bytes(3).toString('hex')}`;
}
