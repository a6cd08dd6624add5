/** Renders a Unix time in milliseconds, for example `2026-11-22T10:15:03Z`. Returns an empty text for another value. */
export function timeText(value: unknown): string {
  return typeof value === 'number' ? `${new Date(value).toISOString().slice(0, 19)}Z` : '';
}
