/** Returns the address of a screen of a realm, for `Link` and `navigate`. */
export function screenPath(realm: string, section: string, id?: string): string {
  const parts = id === undefined ? [realm, section] : [realm, section, id];
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}
