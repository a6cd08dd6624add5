import type { JobRecord } from './job-records.ts';
import { KEPT_BACKUPS, type KeptRun } from './last-runs.ts';
import type { RootFigures } from './root-figures.ts';

/** A gauge with the values of a backup root. All of them describe the root, so all replicas return the same values. */
export interface RootMetric {
  name: string;
  help: string;
  values(figures: RootFigures): readonly { labels: Record<string, string>; value: number }[];
}

/** What the metrics need to know about the platform. */
export interface RootLimits {
  /** Age in seconds from which the newest backup is too old. */
  maxAgeSeconds: number;
  /** The jobs that the settings switch on. Those of others have no metrics. */
  jobs: readonly string[];
}

type Values = ReturnType<RootMetric['values']>;

const one = (value: number | undefined): Values => (value === undefined ? [] : [{ labels: {}, value }]);
const seconds = (milliseconds: number | undefined) =>
  milliseconds === undefined ? undefined : milliseconds / 1000;
const flag = (value: boolean | undefined) => (value === undefined ? undefined : value ? 1 : 0);

function timeOf(figures: RootFigures, run: KeptRun): number | undefined {
  const last = figures.runs.get(run);
  return last === undefined ? undefined : Date.parse(last.at) / 1000;
}

/** True if the last run had no findings. Undefined if there was none. */
function isGood(figures: RootFigures, run: KeptRun): boolean | undefined {
  const last = figures.runs.get(run);
  return last === undefined ? undefined : last.outcome === 'good';
}

function ofBackups(value: (run: KeptRun) => number | undefined): Values {
  return KEPT_BACKUPS.flatMap((run) => {
    const found = value(run);
    return found === undefined ? [] : [{ labels: { part: run.slice('backup-'.length) }, value: found }];
  });
}

/** Returns the state of the mirror after the last backup that had one. */
function mirrorOf({ runs }: RootFigures): boolean | undefined {
  const last = KEPT_BACKUPS.flatMap((run) => runs.get(run) ?? [])
    .filter(({ mirror }) => mirror !== undefined)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .at(-1);
  return last === undefined ? undefined : last.mirror === 'complete';
}

/** Lists the metrics of a backup root. Metrics whose value is unknown have no values. */
export function listRootMetrics({ maxAgeSeconds, jobs }: RootLimits): readonly RootMetric[] {
  const ofJobs = (figures: RootFigures, value: (record: JobRecord) => number | undefined): Values =>
    jobs.flatMap((job) => {
      const record = figures.jobs.get(job);
      const found = record === undefined ? undefined : value(record);
      return found === undefined ? [] : [{ labels: { job }, value: found }];
    });
  return [
    {
      name: 'idkit_backup_root_readable',
      help: 'Whether the backup root exists and can be read: 1 or 0',
      values: ({ readable }) => one(readable ? 1 : 0),
    },
    {
      name: 'idkit_backup_sets',
      help: 'Backup sets in the backup root',
      values: ({ readable, sets }) => one(readable ? sets : undefined),
    },
    {
      name: 'idkit_backup_sets_bytes',
      help: 'Size of all backup sets',
      values: ({ readable, bytes }) => one(readable ? bytes : undefined),
    },
    {
      name: 'idkit_backup_restorable_sets',
      help: 'Backup sets that contain the database and are not known to be damaged',
      values: ({ readable, restorable }) => one(readable ? restorable : undefined),
    },
    {
      name: 'idkit_backup_newest_timestamp_seconds',
      help: 'Unix time of the newest backup set that contains the database',
      values: ({ newest }) => one(seconds(newest?.startedAt)),
    },
    {
      name: 'idkit_backup_newest_bytes',
      help: 'Size of the newest backup set that contains the database',
      values: ({ newest }) => one(newest?.bytes),
    },
    {
      name: 'idkit_backup_newest_verified',
      help: 'Whether the stored verdict of the newest set is good: 1 or 0; 0 also without a verdict',
      values: ({ newest }) => one(newest === undefined ? undefined : newest.verdict === 'good' ? 1 : 0),
    },
    {
      name: 'idkit_backup_restorable_timestamp_seconds',
      help: 'Unix time to which a restore can go back: the time of the newest set that is not known to be damaged',
      values: ({ restorableAt }) => one(seconds(restorableAt)),
    },
    {
      name: 'idkit_backup_max_age_seconds',
      help: 'The age from which the newest backup is too old (backup.maxAgeHours)',
      values: ({ readable }) => one(readable ? maxAgeSeconds : undefined),
    },
    {
      name: 'idkit_backup_part_timestamp_seconds',
      help: 'Unix time of the newest set that contains the part',
      values: ({ parts }) =>
        [...parts].map(([part, startedAt]) => ({ labels: { part }, value: startedAt / 1000 })),
    },
    {
      name: 'idkit_backup_last_run_timestamp_seconds',
      help: 'Unix time of the end of the last backup of the part, good or not',
      values: (figures) => ofBackups((run) => timeOf(figures, run)),
    },
    {
      name: 'idkit_backup_last_run_good',
      help: 'Whether the last backup of the part ended without an error or a finding: 1 or 0',
      values: (figures) => ofBackups((run) => flag(isGood(figures, run))),
    },
    {
      name: 'idkit_backup_mirror_complete',
      help: 'Whether the last backup copied every set to the mirror: 1 or 0',
      values: (figures) => one(flag(mirrorOf(figures))),
    },
    {
      name: 'idkit_backup_root_free_bytes',
      help: 'Free space on the file system of the backup root',
      values: ({ freeBytes }) => one(freeBytes),
    },
    {
      name: 'idkit_verify_timestamp_seconds',
      help: 'Unix time of the last verification',
      values: (figures) => one(timeOf(figures, 'verify')),
    },
    {
      name: 'idkit_verify_good',
      help: 'Whether the last verification ended without an error or a finding: 1 or 0',
      values: (figures) => one(flag(isGood(figures, 'verify'))),
    },
    {
      name: 'idkit_verify_verdict',
      help: 'The verdict of the last verification, as the label of a gauge with the value 1',
      values: ({ runs }) => {
        const verdict = runs.get('verify')?.verdict;
        return verdict === undefined ? [] : [{ labels: { verdict }, value: 1 }];
      },
    },
    {
      name: 'idkit_drill_timestamp_seconds',
      help: 'Unix time of the last restore drill',
      values: (figures) => one(timeOf(figures, 'drill')),
    },
    {
      name: 'idkit_drill_duration_seconds',
      help: 'Duration of the last restore drill',
      values: ({ runs }) => one(seconds(runs.get('drill')?.milliseconds)),
    },
    {
      name: 'idkit_backup_duration_seconds',
      help: 'Duration of the last backup of the part, together with the other parts of its set',
      values: ({ runs }) => ofBackups((run) => seconds(runs.get(run)?.milliseconds)),
    },
    {
      name: 'idkit_drill_good',
      help: 'Whether the last restore drill passed: 1 or 0',
      values: (figures) => one(flag(isGood(figures, 'drill'))),
    },
    {
      name: 'idkit_job_last_success_timestamp_seconds',
      help: 'Unix time of the end of the last run of a job of the schedule without an error or a finding',
      values: (figures) =>
        ofJobs(figures, ({ goodAt }) => seconds(goodAt === undefined ? undefined : Date.parse(goodAt))),
    },
    {
      name: 'idkit_job_overdue',
      help: 'Whether such a run is overdue: 1 or 0',
      values: (figures) => ofJobs(figures, ({ expectedBy }) => (figures.at > Date.parse(expectedBy) ? 1 : 0)),
    },
    {
      name: 'idkit_job_last_run_timestamp_seconds',
      help: 'Unix time of the end of the last run of a job of the schedule, good or not',
      values: (figures) =>
        ofJobs(figures, ({ last }) => seconds(last === undefined ? undefined : Date.parse(last.at))),
    },
    {
      name: 'idkit_job_last_run_good',
      help: 'Whether the last run of a job of the schedule ended without an error or a finding: 1 or 0',
      values: (figures) =>
        ofJobs(figures, ({ last }) => flag(last === undefined ? undefined : last.outcome === 'good')),
    },
    {
      name: 'idkit_job_duration_seconds',
      help: 'Duration of the last run of a job of the schedule, with its hooks',
      values: (figures) => ofJobs(figures, ({ last }) => seconds(last?.milliseconds)),
    },
  ];
}
