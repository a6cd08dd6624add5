import type { ClientScope, Consent } from '../../model/index.ts';
import { missingConsent, resolveScopes } from '../../protocol/claims/index.ts';
import type { BrowserCall } from '../call.ts';
import type { LoginInProgress } from './progress.ts';

/** What a client that needs a consent asks for. */
export interface ConsentNeed {
  /** Scopes that the user has not agreed to yet. */
  missing: readonly ClientScope[];
  /** Every scope that consent is asked for. */
  asked: readonly ClientScope[];
  /** What the user agreed to before. */
  before: Consent | undefined;
}

/**
 * The scopes of a request that the user must see (facts §8.4, `display.on.consent.screen`); with `prompt=consent` all
 * of them again (OpenID Connect Core §3.1.2.1). Undefined where the client needs no consent.
 */
export async function findConsentNeed(
  { ctx, configuration }: BrowserCall,
  { client, request, user }: Pick<LoginInProgress, 'client' | 'request' | 'user'>,
): Promise<ConsentNeed | undefined> {
  if (!client.consentRequired) return undefined;
  const scopes = resolveScopes(configuration, client, request.scope);
  const granted = scopes.outcome === 'granted' ? scopes.granted.scopes : [];
  const before = await ctx.store.findConsent(user.id, client.id);
  const asked = missingConsent(client, granted, undefined);
  const missing = request.prompt.includes('consent') ? asked : missingConsent(client, granted, before);
  return { asked, before, missing };
}
