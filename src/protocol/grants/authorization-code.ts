import { hash } from 'node:crypto';
import { constantTimeEqual, sha256 } from '../../crypto/index.ts';
import { type AuthorizationCode, isSessionAlive, type UserSession } from '../../model/index.ts';
import { type GrantedScopes, keptScopes, missingConsent, resolveScopes } from '../claims/index.ts';
import { Refusal } from '../refusal.ts';
import { newFamily } from '../session/index.ts';
import type { Grant, GrantRequest, Proof } from './grant.ts';

/**
 * `grant_type=authorization_code`: exchanges the code of a login in a browser for tokens (RFC 6749 §4.1.3;
 * docs/keycloak/tokens.md#authorization-code). Every attempt invalidates the code, even a failed one. The scopes are
 * those of the authorization request.
 */
export const authorizationCodeGrant: Grant = {
  eventType: 'CODE_TO_TOKEN',
  shortcut: 'ac',
  use: 'continued',
  ownScopes: true,

  check({ request }) {
    if (!request.form.has('code')) throw new Refusal('missing-code');
  },

  async prove(grantRequest) {
    const { ctx, configuration, client, request, event, now } = grantRequest;
    const code = await ctx.store.findCode(sha256(request.form.get('code') ?? ''), now);
    if (code === undefined || code.realmId !== configuration.realm.id) throw notValid();
    event.sessionId = code.sessionId;
    event.details['code_id'] = code.sessionId;
    const [session, user, consent] = await Promise.all([
      ctx.store.findSession(code.sessionId, false),
      ctx.store.findUser(configuration.realm.id, code.userId),
      ctx.store.findConsent(code.userId, client.id),
    ]);
    if (session === undefined || session.userId !== code.userId) throw notValid();
    if (!isSessionAlive(configuration.realm.settings, session, now))
      throw refused('Session not active', 'user_session_not_found');
    if (user === undefined) throw refused('User not found', 'user_not_found');
    event.userId = user.id;
    if (!user.enabled) throw refused('User disabled', 'user_disabled');
    if (code.redirectUri !== undefined && code.redirectUri !== request.form.get('redirect_uri'))
      throw refused('Incorrect redirect_uri');
    if (code.clientUuid !== client.id)
      throw refused('Auth error: Found different client_id in clientSession');
    if (!client.standardFlowEnabled)
      throw new Refusal('grant-refused', { description: 'Client not allowed to exchange code' });
    checkVerifier(code, request.form.get('code_verifier'));
    const granted = grantScopes(grantRequest, code);
    if (missingConsent(client, granted.scopes, consent).length > 0) throw new Refusal('consent-withdrawn');
    const offline = granted.scopes.some((scope) => scope.name === 'offline_access');
    const kept = offline ? await ctx.store.findSession(code.sessionId, true) : undefined;
    return startFamily(grantRequest, code, granted, { session, kept, offline }, user);
  },

  async abandon({ ctx, request, event, now }) {
    const taken = await ctx.store.takeCode(sha256(request.form.get('code') ?? ''), now);
    if (taken.outcome === 'gone') return;
    event.sessionId = taken.code.sessionId;
    event.details['code_id'] = taken.code.sessionId;
  },
};

/** Returns the scopes of the authorization request that the client still has. */
function grantScopes({ configuration, client }: GrantRequest, { scope }: AuthorizationCode): GrantedScopes {
  const requested = scope === undefined ? undefined : keptScopes(configuration, client, scope);
  const resolution = resolveScopes(configuration, client, requested);
  if (resolution.outcome === 'granted') return resolution.granted;
  throw new Refusal('invalid-scope', { description: `Invalid scopes: ${resolution.names}` });
}

/**
 * Builds the token family of this exchange. It belongs to the user session of the login or, for `offline_access`, to
 * the offline session with the same id. Only the first tokens have the nonce (OpenID Connect Core §12.2).
 */
function startFamily(
  { ctx, configuration, client, request, now }: GrantRequest,
  code: AuthorizationCode,
  granted: GrantedScopes,
  { session, kept, offline }: { session: UserSession; kept: UserSession | undefined; offline: boolean },
  user: Proof['user'],
): Proof {
  const begun = { ...session, offline: true, startedAt: now, ipAddress: request.remoteAddress };
  const offlineSession = offline ? { ...(kept ?? begun), lastAccessAt: now } : undefined;
  const notes = { ...code.notes, ...(code.claims === undefined ? {} : { claims: code.claims }) };
  const family = newFamily(now, {
    id: code.familyId,
    sessionId: code.sessionId,
    offline,
    realmId: configuration.realm.id,
    clientUuid: client.id,
    userId: user.id,
    scope: granted.all,
    notes,
  });
  return {
    user,
    granted,
    record: { session: offlineSession ?? { ...session, lastAccessAt: now }, family },
    notes: { ...session.notes, ...notes, ...(code.nonce === undefined ? {} : { nonce: code.nonce }) },
    commit: async (currentHash): Promise<undefined> => {
      const outcome = await ctx.store.startFamily(
        { hash: code.hash, now },
        { ...family, currentHash },
        offlineSession,
      );
      if (outcome !== 'started') throw notValid();
    },
  };
}

function notValid(): Refusal {
  return refused('Code not valid');
}

function refused(description: string, eventError?: string): Refusal {
  return new Refusal('code-refused', { description, eventError });
}

/** A code verifier has 43 to 128 unreserved characters (RFC 7636 §4.1). */
const VERIFIER = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * Checks the code verifier: the client that exchanges a code must know the verifier from which the request's challenge
 * was computed (RFC 7636 §4.6; docs/keycloak/tokens.md#pkce). The method defaults to plain.
 *
 * @throws Refusal `code-refused`
 */
function checkVerifier(
  { codeChallenge, codeChallengeMethod = 'plain' }: AuthorizationCode,
  verifier: string | undefined,
): void {
  if (codeChallenge === undefined) {
    if (verifier === undefined) return;
    throw refusedVerifier(
      'PKCE code verifier specified but challenge not present in authorization',
      'invalid_code_verifier',
    );
  }
  if (verifier === undefined)
    throw refusedVerifier('PKCE code verifier not specified', 'code_verifier_missing');
  if (!VERIFIER.test(verifier))
    throw refusedVerifier('PKCE verification failed: Invalid code verifier', 'invalid_code_verifier');
  const expected = codeChallengeMethod === 'S256' ? hash('sha256', verifier, 'base64url') : verifier;
  if (!constantTimeEqual(expected, codeChallenge))
    throw refusedVerifier('PKCE verification failed: Code mismatch', 'pkce_verification_failed');
}

function refusedVerifier(description: string, eventError: string): Refusal {
  return new Refusal('code-refused', { description, eventError });
}
