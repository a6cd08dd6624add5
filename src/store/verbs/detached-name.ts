/** The name under which the list of revoked tokens knows a family whose client was taken out of its session. */
export function detachedName(familyId: string): string {
  return `family ${familyId}`;
}
