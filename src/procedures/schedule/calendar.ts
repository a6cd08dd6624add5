import { type CronTimes, parseCron } from '../../config/index.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/**
 * Renders a cron expression as OnCalendar expressions of systemd (systemd.time(7)). There are two if the expression
 * restricts both the day of the month and the day of the week, because cron accepts either of them, and systemd needs
 * both.
 *
 * @param expression a valid cron expression, in UTC
 */
export function renderCalendars(expression: string): readonly string[] {
  const times = parseCron(expression);
  if (times === undefined) return [];
  const { restrictsDay, restrictsWeekday } = times;
  if (restrictsDay && restrictsWeekday)
    return [render(times, { weekdays: false, days: true }), render(times, { weekdays: true, days: false })];
  return [render(times, { weekdays: true, days: true })];
}

function render(
  { minutes, hours, days, months, weekdays }: CronTimes,
  shown: { weekdays: boolean; days: boolean },
): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const list = (values: Iterable<number>, all: number) => {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted.length === all ? '*' : sorted.map(two).join(',');
  };
  const names = [...weekdays].sort((a, b) => a - b).map((day) => WEEKDAYS[day]);
  const weekday = !shown.weekdays || names.length === 7 ? '' : `${names.join(',')} `;
  const day = shown.days ? list(days, 31) : '*';
  return `${weekday}*-${list(months, 12)}-${day} ${list(hours, 24)}:${list(minutes, 60)}:00 UTC`;
}
