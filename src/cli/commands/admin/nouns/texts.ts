/** Renders a Unix time in milliseconds, for example `2026-11-22T10:15:03Z`. Returns an empty text for another value. */
export function timeText(value: unknown): string {
  return typeof value === 'number' ? `${new Date(value).toISOString().slice(0, 19)}Z` : '';
}

/** Renders the date of a Unix time in milliseconds, for example `2026-11-22`. */
export function dateText(value: unknown): string {
  return timeText(value).slice(0, 10);
}

/** Hides descriptions and names that are keys of Keycloak's translations, for example `${role_uma_authorization}`. */
export function ownText(value: unknown): unknown {
  return typeof value === 'string' && /^\$\{.*\}$/.test(value) ? undefined : value;
}
