import type { AdminClient } from '../../client/index.ts';
import { IdkitError, isJsonObject } from '../../core/index.ts';
import type { StatusReport } from './report.ts';

/** Number of clients per request. */
const PAGE = 200;

/** Lists the redirect URIs of a realm's clients that end in a wildcard (RFC 9700 §4.1). */
export async function findWildcards(
  admin: AdminClient,
  realm: string,
): Promise<StatusReport['realms'][number]['wildcards']> {
  const wildcards: { clientId: string; redirectUri: string }[] = [];
  try {
    for (let first = 0; ; first += PAGE) {
      const path = `/${encodeURIComponent(realm)}/clients?first=${first}&max=${PAGE}`;
      const { body } = await admin.call('GET', path);
      const clients = Array.isArray(body) ? body.filter(isJsonObject) : [];
      for (const client of clients) wildcards.push(...wildcardsOf(client));
      if (clients.length < PAGE) return wildcards;
    }
  } catch (error) {
    // The administrator may lack the permission to see all clients.
    if (error instanceof IdkitError) return wildcards;
    throw error;
  }
}

/**
 * Returns the redirect URIs of an enabled client that end in a wildcard. Ignores paths below the service's own address,
 * as in its consoles, because they cannot lead to another site.
 */
function wildcardsOf(client: Record<string, unknown>): { clientId: string; redirectUri: string }[] {
  const { clientId, enabled, redirectUris } = client;
  if (enabled === false || !Array.isArray(redirectUris)) return [];
  return redirectUris
    .filter((uri): uri is string => typeof uri === 'string' && uri.endsWith('*') && !uri.startsWith('/'))
    .map((redirectUri) => ({ clientId: String(clientId), redirectUri }));
}
