import { createHash } from 'node:crypto';
import { type Random, uuid } from '../../core/index.ts';
import type { SignatureAlgorithm } from '../../crypto/index.ts';
import type { Client, User } from '../../model/index.ts';
import type { ClaimsInput, GrantedScopes, TokenOrigin, TokenStamp } from './claims-input.ts';
import { mapClaims } from './map-claims.ts';

/**
 * Whether the client's access tokens are lightweight: only mappers with the corresponding flag write claims
 * (docs/keycloak/tokens.md#lightweight-access-tokens).
 */
export function isLightweight(client: Client): boolean {
  return client.attributes['client.use.lightweight.access.token.enabled'] === 'true';
}

/**
 * Whether the client's ID tokens are lean: without `typ` and, if user info can provide them, without the claims about
 * the person that the scopes add (OpenID Connect Core §2, §5.4).
 */
function isIdTokenLean(client: Client): boolean {
  return client.attributes['idkit.lean.id.token'] === 'true';
}

const SESSION = { online: 'on', offline: 'of', transient: 'tr' } as const;

/**
 * Generates the `jti` of an access token: six letters that encode the token's origin, `:` and a UUID
 * (docs/keycloak/tokens.md#access-token).
 */
export function accessTokenId(origin: TokenOrigin, random: Random): string {
  const kind = origin.lightweight ? 'lt' : 'rt';
  return `${SESSION[origin.session]}${kind}${origin.grant}:${uuid(random)}`;
}

/** The payload of an access token, and its audience. */
export interface AccessTokenPayload {
  /** The claims as JSON. */
  text: string;
  /** The claim `aud`. */
  audience: unknown;
}

/**
 * Returns the claims of an access token in Keycloak's order (docs/keycloak/tokens.md#access-token), or those of a
 * lightweight access token if the client's access tokens are lightweight. Tokens with equal inputs differ only in the
 * stamp, so all other claims are cached as text.
 */
export function accessTokenPayload(input: ClaimsInput, stamp: TokenStamp): AccessTokenPayload {
  const { audience, beforeId, afterId, afterSession } = staticParts(input, stamp.issuer);
  const exp = stamp.expiresAt === undefined ? '' : `"exp":${stamp.expiresAt},`;
  const sid = stamp.sessionId === undefined ? '' : `,"sid":${JSON.stringify(stamp.sessionId)}`;
  const start = `{${exp}"iat":${stamp.issuedAt}${beforeId},"jti":${JSON.stringify(stamp.jti)}`;
  return { text: `${start}${afterId}${sid}${afterSession}}`, audience };
}

/** Returns the claims of `accessTokenPayload` as an object. */
export function accessTokenClaims(input: ClaimsInput, stamp: TokenStamp): Record<string, unknown> {
  return JSON.parse(accessTokenPayload(input, stamp).text) as Record<string, unknown>;
}

/** The claims between those of the stamp, as JSON members that each start with a comma. */
interface StaticParts {
  beforeId: string;
  afterId: string;
  afterSession: string;
  audience: unknown;
}

interface KeptParts extends StaticParts {
  input: ClaimsInput;
  notes: string;
  issuer: string;
}

/** Maximum number of cached payloads per user. A user rarely has more combinations of clients, scopes and notes. */
const KEPT_PER_USER = 8;
const kept = new WeakMap<User, KeptParts[]>();

function staticParts(input: ClaimsInput, issuer: string): StaticParts {
  const { user, client, configuration, granted, roleIds, baseUrl } = input;
  // Only records from the store's cache are frozen. All others can change, so nothing is cached for them.
  if (!Object.isFrozen(user) || !Object.isFrozen(client)) return makeStaticParts(input, issuer);
  const notes = JSON.stringify(input.notes);
  const known = kept.get(user) ?? [];
  for (const parts of known) {
    const other = parts.input;
    if (
      other.client === client &&
      other.configuration === configuration &&
      other.granted === granted &&
      other.roleIds === roleIds &&
      other.baseUrl === baseUrl &&
      areSame(other.clientsByUuid, input.clientsByUuid) &&
      parts.issuer === issuer &&
      parts.notes === notes
    )
      return parts;
  }
  const parts = { ...makeStaticParts(input, issuer), input, notes, issuer };
  if (known.length >= KEPT_PER_USER) known.length = 0;
  known.push(parts);
  kept.set(user, known);
  return parts;
}

/**
 * Whether both maps contain the same client records. A client that owns a role may have been renamed even if nothing
 * else has changed.
 */
function areSame(one: ClaimsInput['clientsByUuid'], other: ClaimsInput['clientsByUuid']): boolean {
  if (one.size !== other.size) return false;
  for (const [id, client] of one) if (other.get(id) !== client) return false;
  return true;
}

function makeStaticParts(input: ClaimsInput, issuer: string): StaticParts {
  const mapped = mapClaims(isLightweight(input.client) ? 'lightweight' : 'access', input);
  const { auth_time, aud, sub, nonce, acr, realm_access, resource_access, ...others } = mapped;
  const { 'allowed-origins': origins, ...rest } = others;
  return {
    audience: aud,
    beforeId: members({ auth_time }),
    afterId: members({ iss: issuer, aud, sub, typ: 'Bearer', azp: input.client.clientId, nonce }),
    afterSession: members({
      acr,
      'allowed-origins': origins,
      realm_access,
      resource_access,
      scope: input.granted.visible,
      ...withoutOwn(rest),
    }),
  };
}

/** Claims that only idkit itself sets. Mappers cannot write them. */
const OWN = new Set(['exp', 'iat', 'jti', 'iss', 'typ', 'azp', 'sid', 'scope']);

function withoutOwn(mapped: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(mapped).filter(([name]) => !OWN.has(name)));
}

function members(claims: Record<string, unknown>): string {
  const text = JSON.stringify(claims).slice(1, -1);
  return text === '' ? '' : `,${text}`;
}

/**
 * Returns the claims of an ID token in Keycloak's order (docs/keycloak/tokens.md#id-token).
 *
 * @param options `accessToken`: the token issued with it, the source of `at_hash` (OpenID Connect Core §3.1.3.6);
 *   `userInfo`: whether the client also gets an access token, now or for the code; `algorithm`: that of the ID token's
 *   signature
 */
export function idTokenClaims(
  input: ClaimsInput,
  stamp: TokenStamp,
  options: { accessToken?: string; userInfo?: boolean; algorithm: SignatureAlgorithm },
): Record<string, unknown> {
  const { accessToken, userInfo = accessToken !== undefined, algorithm } = options;
  const lean = isIdTokenLean(input.client);
  const mapped = mapClaims(lean && userInfo ? 'lean-id' : 'id', input);
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
    typ: lean ? undefined : 'ID',
    azp: clientId,
    nonce: input.notes.nonce,
    sid: stamp.sessionId,
    at_hash: accessToken === undefined ? undefined : tokenHash(accessToken, algorithm),
    acr: mapped.acr,
  };
  return withRest(claims, mapped);
}

/** The content of a refresh token, except for the claims of its stamp. */
export interface RefreshTokenFacts {
  client: Client;
  userId: string;
  granted: GrantedScopes;
  offline: boolean;
  /** The claim `aud` of the access token that is issued with this refresh token. */
  audience: unknown;
  /** The id of the token family, for the claim `reuse_id`. */
  familyId: string;
}

/**
 * Returns the claims of a refresh or offline token in Keycloak's order (docs/keycloak/tokens.md#refresh-token). Clients
 * treat the token as opaque.
 */
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

/**
 * Adds the mapped claims that `claims` does not name. Omits undefined values, so that equal results serialize to the
 * same text.
 */
function withRest(
  claims: Record<string, unknown>,
  mapped: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const name in claims) if (claims[name] !== undefined) all[name] = claims[name];
  for (const name in mapped) if (!(name in claims) && mapped[name] !== undefined) all[name] = mapped[name];
  return all;
}

/**
 * Returns `at_hash` for an access token or `c_hash` for a code (OpenID Connect Core §3.1.3.6, §3.3.2.11): the left half
 * of its hash. The signature algorithm determines the hash function; EdDSA with Ed25519 uses SHA-512.
 */
export function tokenHash(token: string, algorithm: SignatureAlgorithm): string {
  const bits = algorithm === 'EdDSA' ? '512' : algorithm.slice(-3);
  const digest = createHash(`sha${bits}`).update(token, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
