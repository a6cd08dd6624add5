import { checkSeal, pinSet, SET_FILES, type SealedList, type SetHandle } from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { openPlatform } from '../../platform/open.ts';
import { explainWriteFault } from '../durable.ts';
import { lockForRestore, type RestoreLocks } from '../locks.ts';
import { beginRun, type Run } from '../run.ts';
import { abortRestore } from './abort.ts';
import { type Journal, listJournals, putJournal } from './journal.ts';
import {
  checkComplete,
  checkNothingHalfDone,
  checkOptions,
  clearLeftovers,
  findUnfinished,
  noPassphrase,
  openRestoreSet,
} from './leftovers.ts';
import { checkSide, loadSide } from './load.ts';
import { undoAfter } from './old-state.ts';
import type { RestoreOptions, RestorePlan, RestoreResult } from './options.ts';
import { checkServiceStopped, expectedCounts, openNext, preflight, verifyForRestore } from './preflight.ts';
import { checkRealms, finishRestore, type Proof, proveNothing, proveParts, runSmoke } from './prove.ts';
import { makeRoomForRestore, startAgain, startRestored } from './services.ts';
import { databasePasswords, dataDirectory, loadSettingsAfter, stagedFiles } from './settings-after.ts';
import { stageFiles } from './stage.ts';
import { RESTORE_STEPS } from './steps.ts';
import { swapIn } from './swap.ts';
import type { RestoreInternals, RestoreJob, RestoreStepId, StagedRestore } from './work.ts';

/**
 * Restores a set into the platform directory, or goes on with, or takes back, a restore that ended in the middle.
 *
 * @throws before anything is touched: IDKIT_USAGE, IDKIT_SETTING, IDKIT_NOT_FOUND, IDKIT_LOCKED, IDKIT_DAMAGED,
 *   IDKIT_CREDENTIALS, IDKIT_SERVICE_RUNNING, IDKIT_VERSION, IDKIT_NO_SPACE; later IDKIT_RESTORE_UNDONE with the old
 *   state intact, IDKIT_RESTORE_BROKEN where the operator must act
 */
export async function restore(settings: Settings, options: RestoreOptions): Promise<RestoreResult> {
  return restoreInto(settings, options);
}

/** `restore` with what a drill sets beside. */
export async function restoreInto(
  settings: Settings,
  options: RestoreOptions & RestoreInternals,
): Promise<RestoreResult> {
  checkOptions(options);
  if (options.abort === true) return abortRestore(settings, options);
  const began = performance.now();
  const run = beginRun(RESTORE_STEPS, options);
  const dataDir = dataDirectory(settings);
  const found = options.resume === true ? await findUnfinished(dataDir) : undefined;
  const set = await openRestoreSet(options, found);
  const sealed = await checkSeal(set, options.passphrase);
  // The manifest is believed once the seal holds; the verification reports one that does not.
  const goesForward = found?.state === 'swapping' || found?.state === 'swapped';
  if (!goesForward && sealed.problems.length === 0)
    await checkComplete(pinSet(set, sealed.list?.entries ?? []), (found ?? options).keepEnv === true);
  const locks = await lockForRestore(settings, set.dir, {
    reporter: options.reporter,
    mode: options.rootLock ?? 'exclusive',
  });
  try {
    const unfinished = await findUnfinished(dataDir);
    if (options.resume !== true) checkNothingHalfDone(dataDir, unfinished, options);
    const goesOn = unfinished?.state === 'swapping' || unfinished?.state === 'swapped';
    const work = { settings, options, run, set, sealed, dataDir };
    const result =
      options.resume === true && goesOn
        ? await goOn(work, locks, unfinished)
        : await startAfresh(work, locks, options.resume === true ? unfinished : undefined);
    return {
      ...result,
      steps: run.durations,
      findings: run.findings,
      milliseconds: Math.round(performance.now() - began),
    };
  } finally {
    await locks.release();
  }
}

type Outcome = Omit<RestoreResult, 'steps' | 'findings' | 'milliseconds'>;

interface Work {
  settings: Settings;
  options: RestoreOptions & RestoreInternals;
  run: Run<RestoreStepId>;
  set: SetHandle;
  sealed: SealedList;
  dataDir: string;
}

/** The whole runbook from its first step; a resumed one keeps the choices of the run that it follows. */
async function startAfresh(work: Work, locks: RestoreLocks, resumed: Journal | undefined): Promise<Outcome> {
  const { settings, run, dataDir } = work;
  const options = resumed === undefined ? work.options : { ...work.options, ...choicesOf(resumed) };
  if (options.keepEnv !== true && options.passphrase === undefined) throw noPassphrase();
  const verified = await run.step('verify', () =>
    verifyForRestore(work.set, settings, options, {
      onProgress: run.progress('verify', 'bytes'),
      sealed: work.sealed,
      accepted: resumed?.accepted,
    }),
  );
  const { set, verdict } = verified;
  const id = newId(options);
  const expectation = expectedCounts(verdict);
  const job: RestoreJob = { settings, options, run, set, dataDir, id, expectation };
  const { plan, next } = await run.step('preflight', () => preflight(job, verified));
  if (options.dryRun === true) return { ...planned(plan), set: set.dir };
  if (options.confirm !== undefined && !(await options.confirm(plan))) {
    throw new IdkitError('IDKIT_USAGE', 'the restore was not confirmed, and nothing was touched');
  }
  locks.hold(await next.runtime.keepServicesOut?.());
  const begun: Journal = {
    format: 1,
    id,
    set: set.dir,
    startedAt: new Date(options.clock.now()).toISOString(),
    state: 'staging',
    step: 'preflight',
    database: '',
    keepEnv: options.keepEnv === true,
    keepConfig: options.keepConfig === true,
    ...(options.inPlace === undefined ? {} : { inPlace: options.inPlace }),
    ...(verdict.checksumsSha256 === undefined ? {} : { accepted: verdict.checksumsSha256 }),
    items: [],
    touched: false,
    // What an earlier run stopped and did not start again is this one's to start where it brings the old state back.
    ...((await stoppedEarlier(dataDir)) ? { ran: true } : {}),
    expectation: job.expectation,
  };
  try {
    await putJournal(dataDir, begun);
  } catch (error) {
    throw explainWriteFault(error, dataDir);
  }
  let staged = await undoing(
    work,
    () => begun,
    undefined,
    async () => {
      await locks.lockPlatform();
      return run.step('stage', async () => {
        await clearLeftovers(settings, dataDir, id, options.env ?? process.env);
        return stageFiles(job, begun, next, verified.environment);
      });
    },
  );
  await undoing(
    work,
    () => staged.journal,
    staged,
    () =>
      loadAndCheck(staged, (journal) => {
        staged = { ...staged, journal };
      }),
  );
  return goThrough(staged);
}

/** A restore that did not come to its end had stopped the service or the proxy. */
async function stoppedEarlier(dataDir: string): Promise<boolean> {
  const journals = await listJournals(dataDir);
  return journals.some(({ state, ran }) => state !== 'kept' && state !== 'done' && ran === true);
}

/**
 * Stops what runs on the database, loads the dump and checks it. `note` hears the journal as it is after each change:
 * where the live database itself is loaded, it says before that nothing leads back from here.
 */
async function loadAndCheck(staged: StagedRestore, note: (journal: Journal) => void): Promise<void> {
  const { job } = staged;
  let loading = staged;
  const heard = (journal: Journal) => {
    loading = { ...loading, journal };
    note(journal);
  };
  await job.run.step('load', async () => {
    await makeRoomForRestore(staged, heard);
    if (loading.journal.inPlace !== undefined) {
      // Nothing leads back from here, so the dump is first proven to be what was verified; the load proves it again.
      await readToEnd(job.set.stream(SET_FILES.dump, { signal: job.options.signal }));
      const journal: Journal = { ...loading.journal, state: 'swapping' };
      await putJournal(job.dataDir, journal);
      heard(journal);
      job.options.reporter.note(
        `the database ${journal.inPlace} is emptied now, and nothing leads back to what it held`,
      );
    }
    await loadSide(loading);
  });
  await job.run.step('check', () => checkSide(loading));
}

async function readToEnd(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

/** Goes on with a restore that ended at or after the swap, or while the live database itself was loaded. */
async function goOn(work: Work, locks: RestoreLocks, journal: Journal): Promise<Outcome> {
  const { settings, options } = work;
  await checkServiceStopped(settings);
  const files = await stagedFiles({ dir: settings.dir, id: journal.id });
  const after = await loadSettingsAfter(settings, files, options.env ?? process.env);
  const job: RestoreJob = { ...work, id: journal.id, expectation: journal.expectation };
  let staged: StagedRestore = { job, next: await openNext(job, after), journal };
  locks.hold(await staged.next.runtime.keepServicesOut?.());
  const note = (changed: Journal) => {
    staged = { ...staged, journal: changed };
  };
  if (journal.inPlace !== undefined && journal.state === 'swapping' && journal.step === 'stage')
    await undoing(
      work,
      () => staged.journal,
      staged,
      async () => {
        const { set } = await work.run.step('verify', () =>
          verifyForRestore(
            work.set,
            settings,
            { ...options, ...choicesOf(journal) },
            {
              onProgress: work.run.progress('verify', 'bytes'),
              sealed: work.sealed,
              accepted: journal.accepted,
            },
          ),
        );
        staged = { ...staged, job: { ...job, set } };
        await loadAndCheck(staged, note);
      },
    );
  else await makeRoomForRestore(staged, note);
  return goThrough(staged);
}

/** From the swap to the end. */
async function goThrough(staged: StagedRestore): Promise<Outcome> {
  const { job, next } = staged;
  const { run, settings, options, dataDir } = job;
  const work = { settings, options, run, dataDir };
  const swapping: Journal = { ...staged.journal, state: 'swapping' };
  try {
    const journal = await undoing(
      work,
      () => swapping,
      staged,
      () => run.step('swap', () => swapIn(staged)),
    );
    await undoing(
      work,
      () => journal,
      staged,
      async () => {
        const service = await run.step('start', () => startRestored(staged));
        if (service === 'left to its operator') return;
        await run.step(
          'realms',
          () => checkRealms(staged),
          (counts) => counts.map(({ realm, users }) => `${realm}: ${users} users`).join(', '),
        );
      },
    );
    const proof = options.withoutService === true ? proveNothing(staged) : await proveRestored(staged);
    const kept = await run.step('finish', () => finishRestore({ ...staged, journal }));
    return { outcome: 'restored', id: job.id, set: job.set.dir, ...proof, kept };
  } catch (error) {
    throw resumable(error, run.current);
  } finally {
    await next.runtime.stop();
  }
}

/** The last two looks: at the parts around the service, and at the service (spec steps 7 and 8). */
async function proveRestored(staged: StagedRestore): Promise<Proof> {
  const { run } = staged.job;
  await run.step(
    'applications',
    () => proveParts(staged),
    (summary) => summary,
  );
  return run.step('smoke', () => runSmoke(staged));
}

/** An interrupt once the restored state is proven to stand leaves it there, and says how to end it. */
function resumable(error: unknown, step: RestoreStepId | undefined): unknown {
  const late = step === 'applications' || step === 'smoke' || step === 'finish';
  if (!late || !(error instanceof IdkitError)) return error;
  return new IdkitError(error.code, `${error.message}; the restored state is in place`, {
    cause: error,
    hints: [
      ...error.hints,
      'idkit restore --resume runs the last checks again',
      'idkit restore --abort brings back the state before it',
    ],
  });
}

/** Runs steps whose failure brings the old state back. */
async function undoing<T>(
  work: Omit<Work, 'set' | 'sealed'>,
  journal: () => Journal,
  staged: StagedRestore | undefined,
  steps: () => Promise<T>,
): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    const { settings, dataDir, run } = work;
    const runtime = staged?.next.runtime ?? (await openPlatform(settings));
    const env = work.options.env ?? process.env;
    const places = { dir: settings.dir, id: journal().id };
    const { before: databasePassword } = await databasePasswords(settings, places, env);
    const undoable = { dir: settings.dir, dataDir, journal: journal(), runtime, databasePassword };
    throw await undoAfter(error, run.current ?? 'stage', undoable, () => startAgain(settings, env));
  }
}

function choicesOf({ keepEnv, keepConfig, inPlace }: Journal): Partial<RestoreOptions> {
  return { keepEnv, keepConfig, ...(inPlace === undefined ? {} : { inPlace }) };
}

function planned(plan: RestorePlan): Outcome {
  return { outcome: 'planned', plan, checklist: [], checks: [], kept: [] };
}

/** Sorts by time and never repeats: two runs in one second must not meet each other's files. */
function newId(options: RestoreOptions): string {
  const stamp = new Date(options.clock.now())
    .toISOString()
    .replace(/[-:]|\.\d+Z$/g, '')
    .replace('T', '_');
  return `${stamp}-${options.random.bytes(3).toString('hex')}`;
}
