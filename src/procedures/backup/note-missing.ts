import type { Reporter } from '../reporter.ts';

/** What Keycloak writes in the place of a secret. */
const MASK = '**********';

/**
 * Says what Keycloak leaves out of the representations that it gives (facts §0, row 7), so that nobody takes the realm
 * files for a copy of the realms. The database dump holds all of it.
 */
export function noteMissingParts(
  realms: readonly { realm: string; representation: unknown }[],
  reporter: Reporter,
): void {
  if (realms.length === 0) return;
  reporter.note(
    'the realm files hold no users, clients, roles, groups, flows, identity providers or keys, which Keycloak leaves out of them; the database dump holds them',
  );
  for (const { realm, representation } of realms) {
    const masked = listMasked(representation);
    if (masked.length > 0)
      reporter.note(
        `the realm file of ${realm} holds ${MASK} for ${masked.join(', ')}, as Keycloak gives it; the database dump holds the value`,
      );
  }
}

/** Where a value is masked: `smtpServer.password`. */
function listMasked(value: unknown, path: readonly string[] = []): readonly string[] {
  if (value === MASK) return [path.join('.')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => listMasked(inner, [...path, name]));
}
