const SCRIPTED: ReadonlySet<string> = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'filesystem:']);

/**
 * A URL that may stand in a link or a form's action; undefined for one that would run in the page's own origin.
 * Schemes of installed applications are fine (RFC 8252 §7.1).
 */
export function safeLink(url: string | undefined): string | undefined {
  if (url === undefined || url === '') return undefined;
  // Relative to a place that no stored value can name; browsers read it the same way.
  if (!URL.canParse(url, 'https://page.invalid/')) return undefined;
  return SCRIPTED.has(new URL(url, 'https://page.invalid/').protocol) ? undefined : url;
}

/** The origin of a page that may be framed; undefined for anything but http and https. */
export function frameOrigin(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}
