/** One timer. Times are UTC. */
export interface Timer {
  id: string;
  /** The arguments after the name of the program and `--dir`. `argumentsOf` replaces `MAX_AGE`. */
  arguments: readonly string[];
  /** The fields minute, hour, day of month, month and day of week. */
  cron: string;
  /** systemd's OnCalendar expression. */
  calendar: string;
  why: string;
}

/** Stands for the setting `backup.maxAgeHours`. */
const MAX_AGE = '{maxAge}';

/** Database and realms are backed up daily, configuration and environment weekly. A drill runs monthly. */
export const TIMERS: readonly Timer[] = [
  {
    id: 'backup-database',
    arguments: ['backup', '--only', 'database,env'],
    cron: '0 2 * * *',
    calendar: '*-*-* 02:00:00 UTC',
    why: 'database backup, daily at 02:00 UTC, with the environment so that the set can be restored',
  },
  {
    id: 'backup-realms',
    arguments: ['backup', '--only', 'realms'],
    cron: '30 2 * * *',
    calendar: '*-*-* 02:30:00 UTC',
    why: 'realm export, daily at 02:30 UTC',
  },
  {
    id: 'backup-config',
    arguments: ['backup', '--only', 'config'],
    cron: '0 3 * * 0',
    calendar: 'Sun *-*-* 03:00:00 UTC',
    why: 'configuration archive, weekly, 4 versions kept',
  },
  {
    id: 'backup-env',
    arguments: ['backup', '--only', 'env'],
    cron: '15 3 * * 0',
    calendar: 'Sun *-*-* 03:15:00 UTC',
    why: 'encrypted environment file, weekly, off-site through the mirror, 4 versions kept',
  },
  {
    id: 'verify',
    arguments: ['verify', '--latest', '--max-age', MAX_AGE],
    cron: '0 4 * * *',
    calendar: '*-*-* 04:00:00 UTC',
    why: 'check that the newest backup is intact and not too old, daily',
  },
  {
    id: 'drill',
    arguments: ['verify', '--latest', '--drill'],
    cron: '0 5 1 * *',
    calendar: '*-*-01 05:00:00 UTC',
    why: 'backup verification and test restore, monthly',
  },
];

/** Returns the arguments of a timer's command line after the name of the program and `--dir`. */
export function argumentsOf(timer: Timer, { maxAgeHours }: { maxAgeHours: number }): readonly string[] {
  const words = timer.arguments.map((word) => (word === MAX_AGE ? `${maxAgeHours}h` : word));
  return [...words, '--quiet'];
}
