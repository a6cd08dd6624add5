import type { AdminClient } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Finding } from '../run.ts';
import type { StatusReport } from './report.ts';

/** Clients asked for at once. */
const PAGE = 200;

/** Redirect URIs of one realm's clients that a wildcard opens to more than one address (RFC 9700 §4.1). */
export async function findWildcards(
  admin: AdminClient,
  realm: string,
): Promise<StatusReport['realms'][number]['wildcards']> {
  const found: { clientId: string; redirectUri: string }[] = [];
  try {
    for (let first = 0; ; first += PAGE) {
      const path = `/${encodeURIComponent(realm)}/clients?first=${first}&max=${PAGE}`;
      const { body } = await admin.call('GET', path);
      const clients = Array.isArray(body) ? (body as Record<string, unknown>[]) : [];
      for (const client of clients) found.push(...wildcardsOf(client));
      if (clients.length < PAGE) return found;
    }
  } catch (error) {
    // Who may not see the clients cannot be told of them.
    if (error instanceof IdkitError) return found;
    throw error;
  }
}

/** The service's own consoles have one below the service's own address, which leads nowhere else. */
function wildcardsOf(client: Record<string, unknown>): { clientId: string; redirectUri: string }[] {
  const { clientId, enabled, redirectUris } = client;
  if (enabled === false || !Array.isArray(redirectUris)) return [];
  return redirectUris
    .filter((uri): uri is string => typeof uri === 'string' && uri.endsWith('*') && !uri.startsWith('/'))
    .map((redirectUri) => ({ clientId: String(clientId), redirectUri }));
}

/** Each wildcard is a finding: whoever controls any page below it can be sent a user's code. */
export function judgeWildcards(realms: StatusReport['realms']): readonly Finding[] {
  return realms.flatMap(({ realm, wildcards }) =>
    wildcards.map(({ clientId, redirectUri }) => ({
      code: 'REDIRECT_WILDCARD',
      message: `realm ${realm}: client ${clientId} may be answered anywhere below ${redirectUri}; name each redirect URI instead`,
    })),
  );
}
