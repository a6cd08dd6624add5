/** The settings that switch jobs on and have their times. */
export const SCHEDULE_TIMES = [
  'schedule.enabled',
  'schedule.database',
  'schedule.realms',
  'schedule.config',
  'schedule.env',
  'schedule.mirror',
  'schedule.retention',
  'schedule.verify',
  'schedule.drill',
] as const;

/** The settings of the calls around a job. */
export const PINGS = ['schedule.pings.start', 'schedule.pings.success', 'schedule.pings.failure'] as const;

/** The settings of the programs around a job. */
export const HOOKS = [
  'schedule.hooks.before',
  'schedule.hooks.after',
  'schedule.hooks.failure',
  'schedule.hooks.seconds',
] as const;
