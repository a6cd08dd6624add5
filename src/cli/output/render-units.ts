/** Renders bytes in decimal units, for example `1.2 GB`. */
export function renderBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Renders a duration, for example `0.3 s`, `42 s` or `3 min 7 s`. */
export function renderMilliseconds(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Renders an age in its largest unit, for example `3 h` or `2 d`. Ages below two minutes are in seconds. */
export function renderAge(seconds: number): string {
  if (seconds < 0) return `${renderAge(-seconds)} ahead`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/**
 * Separates the thousands, for example `1,000,000`. Creates no formatter when it is loaded, because that takes a tenth of
 * the start of a command.
 */
export function renderNumber(value: number): string {
  return value.toLocaleString('en');
}
