import type { JobRecord, JobRun } from '../../../backupset/index.ts';
import { type PlannedJob, previousCronTime, type Settings } from '../../../config/index.ts';
import { IdkitError } from '../../../core/index.ts';
import { lockPlatformSchedule, type ScheduleLock } from '../../../platform/open.ts';
import { checkInterrupted, type ProcedureOptions } from '../../run.ts';
import type { CommandResult } from './command.ts';
import { addDone, expectedBy, hasBegun, type JobPlan, timesOf } from './due.ts';
import { type HookFacts, runHook } from './hook.ts';
import { type LogTail, listSecrets, openLogTail } from './log-tail.ts';
import { postPing } from './ping.ts';
import type { JobRecords } from './records.ts';
import { doWork, type WorkContext } from './work.ts';

/** Pause in milliseconds between two tries to take a lock that another process holds. */
const BETWEEN_TRIES = 1_000;
/** Pause in milliseconds before a job whose backup root is locked by a command of an operator is tried again. */
const BETWEEN_LOCKED = 30_000;
/** Number of tries of such a job: an hour. */
const MOST_LOCKED = 120;
/** How often a job begins for one planned time if its scheduler is killed each time. */
const MOST_BEGUN = 3;

/** What runs jobs. */
export interface JobRunner extends Pick<ProcedureOptions, 'reporter' | 'clock' | 'signal'> {
  settings: Settings;
  records: JobRecords;
  /** The environment of the jobs. It has the passphrase of the backups. */
  env: NodeJS.ProcessEnv;
  /** Pauses for a number of milliseconds, or until the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Pauses in milliseconds between the tries of a ping. Tests shorten them. */
  pingPauses?: readonly number[];
}

/** Which run of a job is wanted. */
export interface Wanted {
  /**
   * `now`: in any case. `due`: if a planned time has passed. `timer`: like `due`, but a job without a record runs too,
   * because a timer has started it.
   */
  when: 'now' | 'due' | 'timer';
  /** Whether to wait for another scheduler that holds the lock. */
  waits: boolean;
}

/** The result of a job that ran. */
export interface JobResult extends CommandResult {
  job: string;
  run: JobRun;
}

/**
 * Runs a job if it is due, and stores its result. The lock of the schedule excludes all other schedulers of the platform
 * while it decides and while the job runs.
 *
 * @returns undefined if the job is not due, for example because another scheduler ran it
 * @throws IDKIT_LOCKED if another scheduler holds the lock and the caller does not wait; the reason of the signal
 */
export async function runJob(
  job: PlannedJob,
  plan: JobPlan,
  runner: JobRunner,
  wanted: Wanted,
): Promise<JobResult | undefined> {
  const lock = await takeLock(job, runner, wanted.waits);
  try {
    if (lock.onlyHere !== undefined)
      runner.reporter.note(`other machines are not locked out: ${lock.onlyHere}`);
    const record = await runner.records.find(job.id);
    const now = runner.clock.now();
    const due = decide(plan, record, now, wanted.when);
    if (due !== undefined) return await runDue(job, plan, runner, { record, due });
    if (!hasBegun(plan.cron, record, now)) await beginSchedule(job, plan, runner, record);
    return undefined;
  } finally {
    await lock.release();
  }
}

function decide(
  plan: JobPlan,
  record: JobRecord | undefined,
  now: number,
  when: Wanted['when'],
): number | undefined {
  if (when === 'now' || (when === 'timer' && record === undefined))
    return previousCronTime(plan.cron, now) ?? now;
  return hasBegun(plan.cron, record, now) ? timesOf(plan, record, now).due : undefined;
}

/** Stores that the schedule begins now, so that a new platform does not repeat the times before its start. */
async function beginSchedule(
  { id, cron }: PlannedJob,
  plan: JobPlan,
  { records, clock }: JobRunner,
  record: JobRecord | undefined,
): Promise<void> {
  const now = clock.now();
  const planned = previousCronTime(cron, now) ?? now;
  await records.put(id, {
    ...record,
    done: addDone(cron, undefined, planned, now),
    expectedBy: expectedBy(plan, planned),
  });
}

async function takeLock(
  { id }: PlannedJob,
  { settings, reporter, signal, wait }: JobRunner,
  waits: boolean,
): Promise<ScheduleLock> {
  let noted = false;
  for (;;) {
    checkInterrupted(signal);
    try {
      return await lockPlatformSchedule(settings, id);
    } catch (error) {
      if (!waits || !(error instanceof IdkitError) || error.code !== 'IDKIT_LOCKED') throw error;
      if (!noted) reporter.note(`${id} waits: ${error.message}`);
      noted = true;
    }
    await wait(BETWEEN_TRIES, signal);
  }
}

async function runDue(
  job: PlannedJob,
  plan: JobPlan,
  runner: JobRunner,
  { record, due }: { record: JobRecord | undefined; due: number },
): Promise<JobResult> {
  const { records, reporter, clock, settings, env } = runner;
  const planned = new Date(due).toISOString();
  const count = record?.begun?.due === planned ? record.begun.count + 1 : 1;
  const log = openLogTail(listSecrets(settings, env));
  const base: JobRecord = record ?? { done: [], expectedBy: expectedBy(plan, due) };
  await records.put(job.id, { ...base, begun: { due: planned, count } });
  reporter.note(`${job.id}: begins, planned for ${planned}`);
  const began = performance.now();
  await announce('before', job, runner, log, { IDKIT_JOB: job.id, IDKIT_JOB_DUE: planned });
  const result = count > MOST_BEGUN ? killedTooOften(planned) : await workUnlessLocked(job, runner, log);
  const milliseconds = Math.round(performance.now() - began);
  if (runner.signal.aborted && result.failure !== undefined) {
    // The next scheduler repeats a job that was interrupted.
    await records.put(job.id, base);
    checkInterrupted(runner.signal);
  }
  const now = clock.now();
  const message = result.failure?.message ?? result.findings[0]?.message;
  const outcome = result.failure !== undefined ? 'failed' : result.findings.length > 0 ? 'findings' : 'good';
  const run: JobRun = {
    at: new Date(now).toISOString(),
    due: planned,
    outcome,
    exitCode: result.failure?.exitCode ?? result.exitCode,
    milliseconds,
    ...(message === undefined ? {} : { message: log.scrub(message) }),
  };
  await records.put(job.id, finish(plan, base, run, now));
  reporter.note(
    `${job.id}: ${outcome}${outcome === 'good' ? '' : ` (${run.message})`} after ${milliseconds} ms`,
  );
  const facts: HookFacts = {
    IDKIT_JOB: job.id,
    IDKIT_JOB_DUE: planned,
    IDKIT_JOB_OUTCOME: outcome,
    IDKIT_JOB_EXIT_CODE: String(run.exitCode),
  };
  await announce(outcome === 'good' ? 'success' : 'failure', job, runner, log, facts);
  return { ...result, job: job.id, run };
}

function finish(plan: JobPlan, base: JobRecord, run: JobRun, now: number): JobRecord {
  const { goodAt, begun: _, ...kept } = base;
  const due = Date.parse(run.due);
  const isGood = run.outcome === 'good';
  // A good run in the future is from a clock that was ahead, and would hide that a job is overdue.
  const wasGood = goodAt !== undefined && Date.parse(goodAt) <= now ? goodAt : undefined;
  const isKnown = isGood || (goodAt !== undefined && wasGood === undefined);
  const good = isGood ? run.at : wasGood;
  return {
    ...kept,
    done: addDone(plan.cron, base, due, now),
    last: run,
    ...(good === undefined ? {} : { goodAt: good }),
    expectedBy: isKnown ? expectedBy(plan, due) : base.expectedBy,
  };
}

function killedTooOften(planned: string): CommandResult {
  const message = `the scheduler was killed ${MOST_BEGUN} times during the job planned for ${planned}, so it is not repeated`;
  return { exitCode: 1, findings: [], failure: new IdkitError('IDKIT_FAILED', message) };
}

/** Does the work of a job. Tries again while a command of an operator holds the lock of the backup root. */
async function workUnlessLocked(job: PlannedJob, runner: JobRunner, log: LogTail): Promise<CommandResult> {
  const { settings, signal, reporter, wait } = runner;
  const context: WorkContext = { ...runner, onLine: (line) => log.add(line) };
  for (let tries = 1; ; tries++) {
    const result = await doWork(settings, job.id, context).catch((error: unknown): CommandResult => {
      if (!(error instanceof IdkitError)) throw error;
      log.add(`error ${error.code}: ${error.message}`);
      return { exitCode: error.exitCode, findings: [], failure: error };
    });
    const { failure } = result;
    if (failure?.code !== 'IDKIT_LOCKED' || tries === MOST_LOCKED || signal.aborted) return result;
    reporter.note(`${job.id} waits: ${failure.message}`);
    await wait(BETWEEN_LOCKED, signal);
  }
}

/** Runs the hooks and calls the URLs of a moment. Neither changes the result of the job. */
async function announce(
  moment: 'before' | 'success' | 'failure',
  job: PlannedJob,
  runner: JobRunner,
  log: LogTail,
  facts: HookFacts,
): Promise<void> {
  const { pings, hooks } = runner.settings.schedule;
  const { reporter, signal, settings, env, pingPauses } = runner;
  const hookNames =
    moment === 'before'
      ? (['before'] as const)
      : moment === 'failure'
        ? (['failure', 'after'] as const)
        : (['after'] as const);
  const hook = async (name: 'before' | 'after' | 'failure') => {
    const words = hooks[name];
    if (words === null) return;
    const onLine = (line: string) => log.add(`schedule.hooks.${name}: ${line}`);
    const why = await runHook({
      words,
      facts,
      dir: settings.dir,
      seconds: hooks.seconds,
      env,
      onLine,
      signal,
    });
    if (why === undefined) return;
    log.add(`schedule.hooks.${name} failed: ${why}`);
    reporter.note(`schedule.hooks.${name} failed: ${why}`);
  };
  const name = moment === 'before' ? 'start' : moment;
  const url = pings[name];
  if (moment === 'before') await hook('before');
  else for (const one of hookNames) await hook(one);
  if (url === null) return;
  const text = moment === 'failure' ? log.text() : '';
  const why = await postPing(url, job.id, text, {
    signal,
    ...(pingPauses === undefined ? {} : { pauses: pingPauses }),
  });
  if (why !== undefined) reporter.note(`schedule.pings.${name} failed: ${why}`);
}
