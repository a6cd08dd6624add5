import { type JobId, type PlannedJob, plannedJobs, type Settings } from '../../config/index.ts';

/** What a job of the schedule runs. */
export interface Timer {
  id: JobId;
  /** The arguments after the name of the program and `--dir`. `argumentsOf` replaces `MAX_AGE`. */
  arguments: readonly string[];
  why: string;
}

/** Stands for the setting `backup.maxAgeHours`. */
const MAX_AGE = '{maxAge}';

const TIMERS: Readonly<Record<JobId, Omit<Timer, 'id'>>> = {
  'backup-database': {
    arguments: ['backup', '--only', 'database,env'],
    why: 'database backup, with the environment so that the set can be restored',
  },
  'backup-realms': { arguments: ['backup', '--only', 'realms'], why: 'realm export' },
  'backup-config': {
    arguments: ['backup', '--only', 'config'],
    why: 'configuration archive, of which backup.keepVersions versions are kept',
  },
  'backup-env': {
    arguments: ['backup', '--only', 'env'],
    why: 'encrypted environment file, off-site through the mirror, of which backup.keepVersions versions are kept',
  },
  verify: {
    arguments: ['verify', '--latest', '--max-age', MAX_AGE],
    why: 'check that the newest backup is intact and not too old',
  },
  mirror: { arguments: ['backups', 'mirror'], why: 'copy of the backup root to the mirror' },
  retention: { arguments: ['backups', 'prune', '--yes'], why: 'deletion of expired sets' },
  drill: { arguments: ['verify', '--latest', '--drill'], why: 'backup verification and test restore' },
};

/** Returns what a job runs. */
export function timerOf(id: JobId): Timer {
  return { id, ...TIMERS[id] };
}

/** A timer with its times. */
export type PlannedTimer = Timer & PlannedJob;

/** Returns the timers of the jobs that the settings switch on. */
export function plannedTimers(settings: Settings): readonly PlannedTimer[] {
  return plannedJobs(settings).map((job) => ({ ...job, ...timerOf(job.id) }));
}

/** Returns the arguments with which a timer starts its job. */
export function timerArguments({ id }: Pick<Timer, 'id'>): readonly string[] {
  return ['schedule', 'run', '--once', '--job', id, '--quiet'];
}

/** Returns the arguments of a job's command after the name of the program and `--dir`. */
export function argumentsOf(timer: Timer, { maxAgeHours }: { maxAgeHours: number }): readonly string[] {
  return timer.arguments.map((word) => (word === MAX_AGE ? `${maxAgeHours}h` : word));
}
