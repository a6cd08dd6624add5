/** Number of days after which the search for the next run ends. 29 February can be eight years ahead. */
const SEARCHED_DAYS = 366 * 8;
const DAY_MILLISECONDS = 86_400_000;

const SHORTCUTS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The range of each field of a cron line: minute, hour, day of month, month, day of week. */
const FIELDS: readonly { from: number; to: number; names?: readonly string[]; first?: number }[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: MONTHS, first: 1 },
  { from: 0, to: 7, names: WEEKDAYS, first: 0 },
];

/** The times that a cron expression matches. */
export interface CronTimes {
  /** In ascending order. */
  minutes: readonly number[];
  /** In ascending order. */
  hours: readonly number[];
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  /** 0 is Sunday. */
  weekdays: ReadonlySet<number>;
  /** Whether the expression restricts the day of the month. */
  restrictsDay: boolean;
  /** Whether the expression restricts the day of the week. If it restricts both days, one of them is enough. */
  restrictsWeekday: boolean;
}

/**
 * Parses a cron expression (crontab(5)): five fields, or a shortcut such as `@daily`. Returns undefined if it is not
 * valid.
 */
export function parseCron(expression: string): CronTimes | undefined {
  const fields = (SHORTCUTS[expression] ?? expression).trim().split(/\s+/);
  const [minutes, hours, days, months, weekdays] = fields.map((field, index) =>
    readField(field, FIELDS[index]),
  );
  if (fields.length !== 5 || !minutes || !hours || !days || !months || !weekdays) return undefined;
  if (weekdays.delete(7)) weekdays.add(0);
  return {
    minutes: [...minutes].sort((a, b) => a - b),
    hours: [...hours].sort((a, b) => a - b),
    days,
    months,
    weekdays,
    restrictsDay: !fields[2]!.startsWith('*'),
    restrictsWeekday: !fields[4]!.startsWith('*'),
  };
}

/**
 * Returns the first time after `now` that a cron expression matches, or undefined for an expression that is not valid or
 * never matches. Times are Unix times in milliseconds.
 *
 * @param zone the time zone of the fields: UTC, or the one of this machine
 */
export function nextCronTime(expression: string, now: number, zone: 'UTC' | 'local'): number | undefined {
  const times = parseCron(expression);
  if (times === undefined) return undefined;
  for (let ahead = 0; ahead < SEARCHED_DAYS; ahead++) {
    const day = dateOf(now + ahead * DAY_MILLISECONDS, zone);
    if (!isCronDay(times, day)) continue;
    for (const hour of times.hours)
      for (const minute of times.minutes) {
        const time = timeOf(day, hour, minute, zone);
        if (time > now) return time;
      }
  }
  return undefined;
}

/**
 * Returns the last time up to and including `now` that a cron expression matches in UTC, or undefined for an expression
 * that is not valid or never matches. Times are Unix times in milliseconds.
 */
export function previousCronTime(expression: string, now: number): number | undefined {
  const times = parseCron(expression);
  if (times === undefined) return undefined;
  for (let back = 0; back < SEARCHED_DAYS; back++) {
    const day = dateOf(now - back * DAY_MILLISECONDS, 'UTC');
    if (!isCronDay(times, day)) continue;
    for (const hour of times.hours.toReversed())
      for (const minute of times.minutes.toReversed()) {
        const time = timeOf(day, hour, minute, 'UTC');
        if (time <= now) return time;
      }
  }
  return undefined;
}

function isCronDay(times: CronTimes, { month, day, weekday }: CalendarDay): boolean {
  if (!times.months.has(month)) return false;
  const isDay = times.days.has(day);
  const isWeekday = times.weekdays.has(weekday);
  return times.restrictsDay && times.restrictsWeekday ? isDay || isWeekday : isDay && isWeekday;
}

/** Returns the numbers that a field matches, or undefined if the field is not valid. */
function readField(field: string, range: (typeof FIELDS)[number] | undefined): Set<number> | undefined {
  if (range === undefined) return undefined;
  const found = new Set<number>();
  for (const item of field.toLowerCase().split(',')) {
    const [, span = '', step] = /^(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:\/(\d+))?$/.exec(item) ?? [];
    const [low, high] =
      span === '*' ? [range.from, range.to] : span.split('-').map((text) => numberOf(text, range));
    const every = step === undefined ? 1 : Number(step);
    if (low === undefined || Number.isNaN(low) || Number.isNaN(high) || every < 1) return undefined;
    const last = high ?? (step === undefined ? low : range.to);
    if (low < range.from || last > range.to || low > last) return undefined;
    for (let value = low; value <= last; value += every) found.add(value);
  }
  return found;
}

function numberOf(text: string, { names, first }: (typeof FIELDS)[number]): number {
  if (/^\d+$/.test(text)) return Number(text);
  const index = names?.indexOf(text) ?? -1;
  return index === -1 || first === undefined ? Number.NaN : index + first;
}

interface CalendarDay {
  year: number;
  month: number;
  day: number;
  weekday: number;
}

function dateOf(time: number, zone: 'UTC' | 'local'): CalendarDay {
  const date = new Date(time);
  return zone === 'UTC'
    ? {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
        weekday: date.getUTCDay(),
      }
    : {
        year: date.getFullYear(),
        month: date.getMonth() + 1,
        day: date.getDate(),
        weekday: date.getDay(),
      };
}

function timeOf({ year, month, day }: CalendarDay, hour: number, minute: number, zone: string): number {
  return zone === 'UTC'
    ? Date.UTC(year, month - 1, day, hour, minute)
    : new Date(year, month - 1, day, hour, minute).getTime();
}
