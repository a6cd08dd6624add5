const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Renders a size, for example `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toLocaleString(undefined, { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${UNITS[unit]}`;
}

const SPANS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** Renders the time since a moment, for example `3 hours ago`. @param now Unix time in milliseconds */
export function formatAge(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (seconds < 0) return 'in the future';
  // 26 hours and 90 minutes say more than 1 day and 1 hour.
  const [span, name] = SPANS.find(([one]) => seconds >= one * 2) ?? [60, 'minute'];
  const count = Math.floor(seconds / span);
  return seconds < 60 ? 'just now' : `${count.toLocaleString()} ${name}${count === 1 ? '' : 's'} ago`;
}

/** Renders a duration in milliseconds, for example `12.3 s` or `4 min 5 s`. */
export function formatMilliseconds(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Renders a moment in UTC, for example `2026-11-26 02:00 UTC`. */
export function formatMoment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}
