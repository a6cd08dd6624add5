import { createHash } from 'node:crypto';
import { type Random, uuid } from '../../core/index.ts';
import type { SignatureAlgorithm } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import type { ClaimsInput, GrantedScopes, TokenOrigin, TokenStamp } from './contract.ts';
import { mapClaims } from './map-claims.ts';

/** The client's access tokens carry no claims of mappers but those that say so (facts §6.1). */
export function isLightweight(client: Client): boolean {
  return client.attributes['client.use.lightweight.access.token.enabled'] === 'true';
}

const SESSION = { online: 'on', offline: 'of', transient: 'tr' } as const;
const GRANT = {
  password: 'ro',
  authorization_code: 'ac',
  refresh_token: 'rt',
  client_credentials: 'cc',
} as const;

/** A `jti` for an access token: six letters that tell its origin, `:` and a UUID (facts §6.1, Keycloak 26.2). */
export function accessTokenId(origin: TokenOrigin, random: Random): string {
  const kind = origin.lightweight ? 'lt' : 'rt';
  return `${SESSION[origin.session]}${kind}${GRANT[origin.grant]}:${uuid(random)}`;
}

/** The claims of an access token in Keycloak's order (facts §6.1); lightweight where the client says so. */
export function accessTokenClaims(input: ClaimsInput, stamp: TokenStamp): Record<string, unknown> {
  const mapped = mapClaims(isLightweight(input.client) ? 'lightweight' : 'access', input);
  const claims: Record<string, unknown> = {
    exp: stamp.expiresAt,
    iat: stamp.issuedAt,
    auth_time: mapped.auth_time,
    jti: stamp.jti,
    iss: stamp.issuer,
    aud: mapped.aud,
    sub: mapped.sub,
    typ: 'Bearer',
    azp: input.client.clientId,
    nonce: mapped.nonce,
    sid: stamp.sessionId,
    acr: mapped.acr,
    'allowed-origins': mapped['allowed-origins'],
    realm_access: mapped.realm_access,
    resource_access: mapped.resource_access,
    scope: input.granted.visible,
  };
  return withRest(claims, mapped);
}

/**
 * The claims of an ID token in Keycloak's order (facts §6.2).
 *
 * @param accessToken issued with it; `at_hash` is made from it (OpenID Connect Core §3.1.3.6)
 * @param algorithm that will sign the ID token
 */
export function idTokenClaims(
  input: ClaimsInput,
  stamp: TokenStamp,
  { accessToken, algorithm }: { accessToken?: string; algorithm: SignatureAlgorithm },
): Record<string, unknown> {
  const mapped = mapClaims('id', input);
  const { clientId } = input.client;
  const others = [mapped.aud ?? []].flat().filter((name) => name !== clientId);
  const claims: Record<string, unknown> = {
    exp: stamp.expiresAt,
    iat: stamp.issuedAt,
    auth_time: mapped.auth_time,
    jti: stamp.jti,
    iss: stamp.issuer,
    aud: others.length === 0 ? clientId : [clientId, ...others],
    sub: mapped.sub ?? input.user.id,
    typ: 'ID',
    azp: clientId,
    nonce: input.notes.nonce,
    sid: stamp.sessionId,
    at_hash: accessToken === undefined ? undefined : accessTokenHash(accessToken, algorithm),
    acr: mapped.acr,
  };
  return withRest(claims, mapped);
}

/** What a refresh token says beside its stamp. */
export interface RefreshTokenFacts {
  client: Client;
  userId: string;
  granted: GrantedScopes;
  offline: boolean;
  /** `aud` of the access token issued with it. */
  audience: unknown;
  /** The token family; the claim `reuse_id`. */
  familyId: string;
}

/** The claims of a refresh or offline token in Keycloak's order (facts §6.3); opaque to clients. */
export function refreshTokenClaims(facts: RefreshTokenFacts, stamp: TokenStamp): Record<string, unknown> {
  return withRest(
    {
      exp: stamp.expiresAt,
      iat: stamp.issuedAt,
      jti: stamp.jti,
      iss: stamp.issuer,
      aud: stamp.issuer,
      sub: facts.userId,
      typ: facts.offline ? 'Offline' : 'Refresh',
      azp: facts.client.clientId,
      sid: stamp.sessionId,
      scope: facts.granted.all,
      aud_x: facts.audience,
      prov: 'default',
      reuse_id: facts.familyId,
    },
    {},
  );
}

/** Adds what is not there yet; absent values are left out, so that results compare and serialise alike. */
function withRest(
  claims: Record<string, unknown>,
  mapped: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const name in claims) if (claims[name] !== undefined) all[name] = claims[name];
  for (const name in mapped) if (!(name in claims) && mapped[name] !== undefined) all[name] = mapped[name];
  return all;
}

/** Left half of the hash that goes with the signature algorithm; EdDSA on Ed25519 goes with SHA-512. */
function accessTokenHash(accessToken: string, algorithm: SignatureAlgorithm): string {
  const bits = algorithm === 'EdDSA' ? '512' : algorithm.slice(-3);
  const digest = createHash(`sha${bits}`).update(accessToken, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
