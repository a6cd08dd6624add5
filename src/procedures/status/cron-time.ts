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

/**
 * Returns the first time after `now` that a cron expression matches (crontab(5)), or undefined for an expression that
 * is not valid or never matches. Times are Unix times in milliseconds.
 *
 * @param expression five fields, or a shortcut such as `@daily`
 * @param zone the time zone of the fields: UTC, or the one of this machine
 */
export function nextCronTime(expression: string, now: number, zone: 'UTC' | 'local'): number | undefined {
  const fields = (SHORTCUTS[expression] ?? expression).trim().split(/\s+/);
  const sets = fields.map((field, index) => readField(field, FIELDS[index]));
  const [minutes, hours, days, months, weekdays] = sets;
  if (fields.length !== 5 || !minutes || !hours || !days || !months || !weekdays) return undefined;
  if (weekdays.has(7)) weekdays.add(0);
  const everyDay = fields[2]!.startsWith('*');
  const everyWeekday = fields[4]!.startsWith('*');
  for (let ahead = 0; ahead < SEARCHED_DAYS; ahead++) {
    const day = dateOf(now + ahead * DAY_MILLISECONDS, zone);
    if (!months.has(day.month)) continue;
    // If both fields are restricted, one of them is enough.
    const isDay = days.has(day.day);
    const isWeekday = weekdays.has(day.weekday);
    if (everyDay || everyWeekday ? !(isDay && isWeekday) : !(isDay || isWeekday)) continue;
    for (const hour of [...hours].sort((a, b) => a - b))
      for (const minute of [...minutes].sort((a, b) => a - b)) {
        const time = timeOf(day, hour, minute, zone);
        if (time > now) return time;
      }
  }
  return undefined;
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
