import { randomId, uuid } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import type { AuthorizationCode, AuthorizationRequest, Realm } from '../../model/index.ts';
import type { ProtocolContext } from '../../protocol/index.ts';

/** Number of random bytes in a code: 144 bits (RFC 6749 §10.10 requires more than 128). */
const CODE_BYTES = 18;

/** Lifetime of a code in seconds if the realm's `accessCodeLifespan` is 0 or negative. */
const DEFAULT_LIFESPAN = 60;

/** The login and the request that a code belongs to. */
export interface CodeSubject {
  realm: Realm;
  clientUuid: string;
  userId: string;
  sessionId: string;
  request: AuthorizationRequest;
  /** Notes of the token family, such as `auth_time` and `acr`. */
  notes: Readonly<Record<string, string>>;
  /** Unix time in seconds at which the code is issued. */
  now: number;
}

/**
 * Builds an authorization code: the text for the client, `<random>.<user session>.<client uuid>`
 * (docs/keycloak/tokens.md#authorization-code), and the record for the store, which contains only the SHA-256 of the
 * code. Stores nothing.
 */
export function newCode(
  ctx: Pick<ProtocolContext, 'random'>,
  { realm, clientUuid, userId, sessionId, request, notes, now }: CodeSubject,
): { text: string; code: AuthorizationCode } {
  const text = `${randomId(ctx.random, CODE_BYTES)}.${sessionId}.${clientUuid}`;
  const { accessCodeLifespan } = realm.settings;
  const code: AuthorizationCode = {
    hash: sha256(text),
    realmId: realm.id,
    clientUuid,
    userId,
    sessionId,
    familyId: uuid(ctx.random),
    issuedAt: now,
    expiresAt: now + (accessCodeLifespan > 0 ? accessCodeLifespan : DEFAULT_LIFESPAN),
    notes,
  };
  const { redirectUri, redirectUriSent, scope, nonce, codeChallenge, codeChallengeMethod, claims } = request;
  if (redirectUriSent) code.redirectUri = redirectUri;
  if (scope !== undefined) code.scope = scope;
  if (nonce !== undefined) code.nonce = nonce;
  if (codeChallenge !== undefined) code.codeChallenge = codeChallenge;
  if (codeChallengeMethod !== undefined) code.codeChallengeMethod = codeChallengeMethod;
  if (claims !== undefined) code.claims = claims;
  return { text, code };
}
