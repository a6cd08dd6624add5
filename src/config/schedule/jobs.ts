/** A job of the schedule. */
export interface Job {
  /** The name in `idkit schedule run --job NAME`, in metrics and in the names of timers. */
  id: JobId;
  /** The setting below `schedule.` with the times of the job. */
  setting: JobSetting;
  /** For people. */
  title: string;
}

export type JobId =
  | 'backup-database'
  | 'backup-realms'
  | 'backup-config'
  | 'backup-env'
  | 'verify'
  | 'mirror'
  | 'retention'
  | 'drill';

export type JobSetting =
  | 'database'
  | 'realms'
  | 'config'
  | 'env'
  | 'verify'
  | 'mirror'
  | 'retention'
  | 'drill';

/** The jobs of a schedule. Of several that are due at the same moment, the first one in this list runs first. */
export const JOBS: readonly Job[] = [
  { id: 'backup-database', setting: 'database', title: 'Backup of the database' },
  { id: 'backup-realms', setting: 'realms', title: 'Export of the realms' },
  { id: 'backup-config', setting: 'config', title: 'Backup of the configuration' },
  { id: 'backup-env', setting: 'env', title: 'Backup of the environment' },
  { id: 'verify', setting: 'verify', title: 'Verification of the newest set' },
  { id: 'mirror', setting: 'mirror', title: 'Copy to the mirror' },
  { id: 'retention', setting: 'retention', title: 'Deletion of expired sets' },
  { id: 'drill', setting: 'drill', title: 'Test restore' },
];

/** A job with its times. */
export interface PlannedJob extends Job {
  /** A cron expression in UTC. */
  cron: string;
}

/** The settings that decide which jobs run. */
interface Planning {
  schedule: Readonly<Record<JobSetting, string> & { enabled: boolean }>;
  backup: { mirror: unknown };
}

/**
 * Returns the jobs that the settings switch on, in the order of `JOBS`. Without `backup.mirror` there is no job that
 * copies to it. With `schedule.enabled: false` there are none.
 */
export function plannedJobs({ schedule, backup }: Planning): readonly PlannedJob[] {
  if (!schedule.enabled) return [];
  return JOBS.flatMap((job) => {
    const cron = schedule[job.setting];
    return cron === 'off' || (job.id === 'mirror' && backup.mirror === null) ? [] : [{ ...job, cron }];
  });
}
