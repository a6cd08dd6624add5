import { boolean, commandWords, cronTimes, orNull, orWord, pingUrl, wholeNumber } from './kinds.ts';
import type { SettingRow } from './row.ts';

const times = orWord(cronTimes, 'off');
const ping = orNull(pingUrl);
const hook = orNull(commandWords);

/** The settings of the schedule. */
export const SCHEDULE_SETTINGS = [
  {
    name: 'schedule.enabled',
    kind: boolean,
    default: true,
    reason: 'a platform without backups should be a decision',
    doc: 'false: idkit schedule runs no job, and status reports none as overdue',
  },
  {
    name: 'schedule.database',
    kind: times,
    default: '0 2 * * *',
    reason: 'most users sleep; the environment is included so that the set can be restored',
    doc: 'when the database and the environment are backed up: five fields of cron in UTC, or off',
  },
  {
    name: 'schedule.realms',
    kind: times,
    default: '30 2 * * *',
    reason: 'after the backup of the database',
    doc: 'when the realms are exported',
  },
  {
    name: 'schedule.config',
    kind: times,
    default: '0 3 * * 0',
    reason: 'the configuration rarely changes',
    doc: 'when the configuration is archived',
  },
  {
    name: 'schedule.env',
    kind: times,
    default: '15 3 * * 0',
    reason: 'the environment rarely changes',
    doc: 'when the environment file is encrypted into a version of its own',
  },
  {
    name: 'schedule.mirror',
    kind: times,
    default: '30 3 * * *',
    reason: 'repeats what a backup could not copy at night',
    doc: 'when the backup root is copied to backup.mirror',
  },
  {
    name: 'schedule.retention',
    kind: times,
    default: '45 3 * * *',
    reason: 'expired sets are deleted even if the backups are made elsewhere',
    doc: 'when expired sets are deleted',
  },
  {
    name: 'schedule.verify',
    kind: times,
    default: '0 4 * * *',
    reason: 'damage is found while older sets still exist',
    doc: 'when the newest set is read and checked',
  },
  {
    name: 'schedule.drill',
    kind: times,
    default: '0 5 1 * *',
    reason: 'a test restore takes time and space',
    doc: 'when the newest set is restored for a test',
  },
  {
    name: 'schedule.jitterSeconds',
    kind: wholeNumber(0, 3600),
    default: 60,
    reason: 'platforms that share a machine or a database do not all begin in the same second',
    doc: 'each job begins later by up to this many seconds',
  },
  {
    name: 'schedule.pings.start',
    kind: ping,
    default: null,
    reason: 'only the operator has a monitoring service',
    doc: 'the URL that idkit schedule run calls before a job; {job} is replaced by the name of the job',
  },
  {
    name: 'schedule.pings.success',
    kind: ping,
    default: null,
    reason: 'only the operator has a monitoring service',
    doc: 'the URL that is called after a job without a finding',
  },
  {
    name: 'schedule.pings.failure',
    kind: ping,
    default: null,
    reason: 'only the operator has a monitoring service',
    doc: 'the URL to which the end of the log is posted after a job with an error or a finding',
  },
  {
    name: 'schedule.hooks.before',
    kind: hook,
    default: null,
    reason: 'only the operator knows what to run',
    doc: 'the program, with its arguments as a list, that runs before each job',
  },
  {
    name: 'schedule.hooks.after',
    kind: hook,
    default: null,
    reason: 'only the operator knows what to run',
    doc: 'the program that runs after each job',
  },
  {
    name: 'schedule.hooks.failure',
    kind: hook,
    default: null,
    reason: 'only the operator knows what to run',
    doc: 'the program that runs after a job with an error or a finding, before schedule.hooks.after',
  },
  {
    name: 'schedule.hooks.seconds',
    kind: wholeNumber(1, 3600),
    default: 60,
    reason: 'a program that hangs must not delay the jobs for long',
    doc: 'how many seconds a hook may run; then it is ended with all programs that it started',
  },
] as const satisfies readonly SettingRow[];
