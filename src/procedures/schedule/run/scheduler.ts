import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  acquireLock,
  type JobId,
  type PlannedJob,
  plannedJobs,
  platformPaths,
  type Settings,
} from '../../../config/index.ts';
import { IdkitError } from '../../../core/index.ts';
import { checkInterrupted, type Finding, type ProcedureOptions, type ProcedureResult } from '../../run.ts';
import { hasBegun, type JobPlan, jitterOf, timesOf } from './due.ts';
import { openJobRecords } from './records.ts';
import { type JobResult, type JobRunner, runJob } from './run-job.ts';

/**
 * Longest pause in milliseconds. Timers do not run while a machine sleeps, and do not follow changes of its clock, so the
 * scheduler reads the clock this often.
 */
const LONGEST_PAUSE = 30_000;

export interface ScheduleRunOptions
  extends Pick<ProcedureOptions, 'reporter' | 'clock' | 'signal'>,
    Pick<JobRunner, 'pingPauses'> {
  /** The environment of the jobs, with the passphrase or its source. */
  env: NodeJS.ProcessEnv;
  /** Only this job. */
  job?: JobId;
  /** Default: a timer. A test that has its own clock replaces it. */
  wait?: JobRunner['wait'];
}

/** The result of the jobs that ran. */
export interface ScheduleRunResult extends ProcedureResult {
  jobs: readonly JobResult[];
}

/** Returns the name of the lock that every running scheduler shares, so that `status` can find it. */
export function schedulerLock(dir: string): string {
  return join(platformPaths(dir).data, 'scheduler.lock');
}

/** Returns when a job runs, for one machine of the platform. */
export function planOf({ dir, schedule }: Settings, { id, cron }: PlannedJob): JobPlan {
  return { cron, jitter: jitterOf(schedule.jitterSeconds, `${hostname()} ${dir} ${id}`) };
}

/**
 * Runs each job when it is due, until the signal aborts. Jobs run one after the other. Of the times that were missed
 * while the machine or the scheduler was off, only the newest is caught up.
 *
 * @throws IDKIT_SETTING if the schedule is switched off
 */
export async function runSchedule(settings: Settings, options: ScheduleRunOptions): Promise<void> {
  const { clock, signal, reporter } = options;
  const runner = openRunner(settings, options);
  const jobs = selectJobs(settings, undefined);
  await mkdir(platformPaths(settings.dir).data, { recursive: true, mode: 0o700 });
  const running = await acquireLock(schedulerLock(settings.dir), {
    mode: 'shared',
    record: { command: 'schedule run' },
  });
  try {
    let shown = false;
    while (!signal.aborted) {
      let begins = Number.POSITIVE_INFINITY;
      let ran = false;
      for (const job of jobs) {
        if (signal.aborted) break;
        const plan = planOf(settings, job);
        const record = await runner.records.find(job.id);
        const now = clock.now();
        const times = timesOf(plan, record, now);
        if (!shown && times.beginsAt !== undefined)
          reporter.note(`${job.id}: next at ${new Date(times.beginsAt).toISOString()}`);
        if (times.due !== undefined || !hasBegun(job.cron, record, now))
          ran = (await runIfFree(job, plan, runner)) || ran;
        begins = Math.min(begins, times.beginsAt ?? begins);
      }
      shown = true;
      // A job that ran may have made others due.
      if (!ran) await runner.wait(Math.max(0, Math.min(begins - clock.now(), LONGEST_PAUSE)), signal);
    }
  } finally {
    await running.release();
  }
}

/** Returns whether the job ran. If another scheduler holds the lock, this one looks again after a pause. */
async function runIfFree(job: PlannedJob, plan: JobPlan, runner: JobRunner): Promise<boolean> {
  try {
    return (await runJob(job, plan, runner, { when: 'due', waits: false })) !== undefined;
  } catch (error) {
    if (runner.signal.aborted) return false;
    if (!(error instanceof IdkitError)) throw error;
    if (error.code !== 'IDKIT_LOCKED') runner.reporter.note(`${job.id}: ${error.message}`);
    return false;
  }
}

/**
 * Runs the jobs that are due, or one job in any case, and returns their results.
 *
 * @param when `due`: only jobs whose time has passed
 * @throws IDKIT_USAGE for a job that the settings switch off; the reason of the signal
 */
export async function runScheduleOnce(
  settings: Settings,
  options: ScheduleRunOptions,
  when: 'now' | 'due',
): Promise<ScheduleRunResult> {
  const runner = openRunner(settings, options);
  const results: JobResult[] = [];
  const wanted = when === 'due' && options.job !== undefined ? 'timer' : when;
  for (const job of selectJobs(settings, options.job)) {
    checkInterrupted(options.signal);
    // A timer has its own jitter.
    const plan = { cron: job.cron, jitter: () => 0 };
    const result = await runJob(job, plan, runner, { when: wanted, waits: true });
    if (result !== undefined) results.push(result);
  }
  const findings: Finding[] = results.flatMap((result) => result.findings);
  const failure = results.find((result) => result.failure !== undefined)?.failure;
  return { jobs: results, findings, ...(failure === undefined ? {} : { failure }) };
}

function openRunner(settings: Settings, options: ScheduleRunOptions): JobRunner {
  const { root } = settings.backup;
  return {
    wait: waitFor,
    ...options,
    settings,
    records: openJobRecords(root, (message) => options.reporter.note(message)),
  };
}

function selectJobs(settings: Settings, wanted: JobId | undefined): readonly PlannedJob[] {
  const jobs = plannedJobs(settings);
  if (wanted === undefined) {
    if (jobs.length > 0) return jobs;
    throw new IdkitError('IDKIT_SETTING', 'the schedule has no job', {
      hints: ['set schedule.enabled to true, and the times of at least one job, in idkit.yaml'],
    });
  }
  const job = jobs.find(({ id }) => id === wanted);
  if (job !== undefined) return [job];
  const why =
    wanted === 'mirror' && settings.backup.mirror === null
      ? 'backup.mirror is not set'
      : 'the settings below schedule. switch it off';
  throw new IdkitError('IDKIT_USAGE', `the job ${wanted} cannot run: ${why}`, {
    hints: ['idkit status lists the jobs of the schedule'],
  });
}

async function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => undefined);
}
