import { findJobRecord, type JobRun } from '../../../backupset/index.ts';
import { plannedJobs, type Settings } from '../../../config/index.ts';
import { timesOf } from './due.ts';
import { planOf } from './scheduler.ts';

/** What an operator wants to know about a job. Times are ISO 8601, UTC. */
export interface JobOverview {
  job: string;
  /** The setting that has its times. */
  cron: string;
  /** When the job begins next if `idkit schedule run` runs it. */
  next?: string;
  /** Absent if it has not run yet. */
  last?: JobRun;
  /** The end of the last run without an error or a finding. */
  goodAt?: string;
  /** Whether such a run is overdue. A job that no scheduler has taken up is not. */
  overdue: boolean;
}

/** Reads the last results and the next times of the jobs that the settings switch on. @param now Unix time in milliseconds */
export async function listJobs(settings: Settings, now: number): Promise<readonly JobOverview[]> {
  const jobs: JobOverview[] = [];
  for (const job of plannedJobs(settings)) {
    const record = await findJobRecord(settings.backup.root, job.id);
    const { due, beginsAt } = timesOf(planOf(settings, job), record, now);
    const next = due === undefined ? beginsAt : now;
    jobs.push({
      job: job.id,
      cron: job.cron,
      ...(next === undefined ? {} : { next: new Date(next).toISOString() }),
      ...(record?.last === undefined ? {} : { last: record.last }),
      ...(record?.goodAt === undefined ? {} : { goodAt: record.goodAt }),
      overdue: record !== undefined && now > Date.parse(record.expectedBy),
    });
  }
  return jobs;
}
