import type { Client, ClientScope, Consent } from '../model/index.ts';

/** Whether the consent page names the scope: unless it says otherwise (facts §8.4). */
function isShownForConsent(scope: ClientScope): boolean {
  return (scope.attributes['display.on.consent.screen'] ?? 'true') === 'true';
}

/**
 * The scopes that a client which requires consent was granted and the user has not agreed to: what the consent
 * page asks for, and what makes a token refused once a consent was withdrawn (facts §3.3, §3.4 row 16).
 */
export function missingConsent(
  client: Client,
  scopes: readonly ClientScope[],
  consent: Consent | undefined,
): readonly ClientScope[] {
  if (!client.consentRequired) return [];
  return scopes.filter((scope) => isShownForConsent(scope) && !consent?.scopeIds.includes(scope.id));
}
