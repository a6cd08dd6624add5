import { uuid } from '../../core/index.ts';
import { signJws } from '../../crypto/index.ts';
import {
  accessTokenExpiry,
  type Client,
  effectiveRoleIds,
  refreshTokenExpiry,
  type User,
} from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import {
  accessTokenId,
  accessTokenPayload,
  type ClaimsInput,
  type GrantedScopes,
  idTokenClaims,
  isLightweight,
  narrowRoles,
  permittedScopes,
  refreshTokenClaims,
  roleOwners,
  type TokenStamp,
} from '../claims/index.ts';
import type { ProtocolContext } from '../context.ts';
import type { FamilyRecord, Grant, GrantRequest, Proof } from '../grants/index.ts';
import { signatureAlgorithm } from '../keys/index.ts';
import { issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { hashRefreshToken, type RefreshToken, readRefreshToken } from './refresh-token.ts';

/**
 * The response of the token endpoint, in Keycloak's field order (docs/keycloak/tokens.md#token-response; RFC 6749
 * §5.1).
 */
export interface TokenResponse {
  access_token: string;
  /** In seconds. */
  expires_in: number;
  /** In seconds. 0 if the response has no refresh token, or an offline token that never expires. */
  refresh_expires_in: number;
  refresh_token?: string;
  token_type: 'Bearer' | 'bearer';
  id_token?: string;
  'not-before-policy': number;
  session_state?: string;
  scope: string;
}

const NO_REFRESH_TOKEN = Buffer.alloc(32);

/**
 * Issues the tokens of a grant and stores its session and token family. Signing and storing run in parallel. The
 * response waits for both, and if the record cannot be stored, the tokens are discarded.
 *
 * @throws Refusal of `Proof.commit`, or `offline-not-allowed`
 */
export async function issueTokens(request: GrantRequest, proof: Proof): Promise<TokenResponse> {
  const { ctx, configuration, client, event, now } = request;
  const { settings } = configuration.realm;
  const { record, user } = proof;
  const input = await gatherClaims(ctx, configuration, { client, ...proof });
  if (record?.session.offline) checkOfflineAllowed(input, request.grant);

  const expiresAt = accessTokenExpiry(settings, client, record, now);
  const stamp = newStamp(request, record, expiresAt);
  const tokenId = accessTokenId(
    {
      session: record === undefined ? 'transient' : record.session.offline ? 'offline' : 'online',
      grant: request.grant.shortcut,
      lightweight: isLightweight(client),
    },
    ctx.random,
  );
  const payload = accessTokenPayload(input, { ...stamp, jti: tokenId });
  const made = await makeRefreshToken(request, input, record, payload.audience);
  const [{ accessToken, idToken }, repeated] = await Promise.all([
    signBoth(request, input, stamp, payload.text),
    proof.commit?.(made?.hash ?? NO_REFRESH_TOKEN, made?.text),
  ]);
  const refresh = repeated === undefined ? made : readRefreshToken(ctx, configuration, repeated);
  await proof.settled?.();

  event.userId = user.id;
  event.sessionId = record?.session.id;
  event.details['token_id'] = tokenId;
  event.details['scope'] = input.granted.visible;
  addRefreshDetails(request, refresh, expiresAt);
  return {
    access_token: accessToken,
    expires_in: expiresAt - now,
    refresh_expires_in: refresh?.expiresAt === undefined ? 0 : refresh.expiresAt - now,
    ...(refresh === undefined ? {} : { refresh_token: refresh.text }),
    token_type: client.attributes['token.response.type.bearer.lower-case'] === 'true' ? 'bearer' : 'Bearer',
    ...(idToken === undefined ? {} : { id_token: idToken }),
    'not-before-policy': Math.max(settings.notBefore, client.notBefore, user.notBefore),
    ...(record === undefined ? {} : { session_state: record.session.id }),
    scope: input.granted.visible,
  };
}

type IssuedRefreshToken = Pick<RefreshToken, 'id' | 'text' | 'hash' | 'offline' | 'expiresAt'>;

/**
 * Issues the next refresh token of the token family. Returns undefined if the grant stores no session, or if the
 * client's settings exclude refresh tokens (docs/keycloak/tokens.md#token-response).
 */
async function makeRefreshToken(
  { ctx, configuration, client, now }: GrantRequest,
  input: ClaimsInput,
  record: FamilyRecord | undefined,
  audience: unknown,
): Promise<IssuedRefreshToken | undefined> {
  if (record === undefined || client.attributes['use.refresh.tokens'] === 'false') return undefined;
  const { session, family } = record;
  const expiresAt = refreshTokenExpiry(configuration.realm.settings, client, session, family, now);
  const id = uuid(ctx.random);
  const claims = refreshTokenClaims(
    {
      client,
      userId: input.user.id,
      granted: { ...input.granted, all: family.scope },
      offline: session.offline,
      audience,
      familyId: family.id,
    },
    {
      issuer: issuerOf(ctx, configuration),
      jti: id,
      issuedAt: now,
      sessionId: session.id,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
  );
  const text = await signJws(ctx.keys.signingKey(configuration, 'HS512'), claims);
  return { id, text, hash: hashRefreshToken(text), offline: session.offline, expiresAt };
}

/**
 * Signs the access token, then the ID token, which contains a hash of the access token (OpenID Connect Core §3.1.3.6).
 */
async function signBoth(
  { ctx, configuration, client }: GrantRequest,
  input: ClaimsInput,
  stamp: Omit<TokenStamp, 'jti'>,
  accessPayload: string,
): Promise<{ accessToken: string; idToken: string | undefined }> {
  const accessAlgorithm = signatureAlgorithm(configuration, client, 'access');
  const accessToken = await signJws(ctx.keys.signingKey(configuration, accessAlgorithm), accessPayload);
  if (!input.granted.openid) return { accessToken, idToken: undefined };
  const algorithm = signatureAlgorithm(configuration, client, 'id');
  const claims = idTokenClaims(input, { ...stamp, jti: uuid(ctx.random) }, { accessToken, algorithm });
  const idToken = await signJws(ctx.keys.signingKey(configuration, algorithm), claims);
  return { accessToken, idToken };
}

function newStamp(
  { ctx, configuration, now }: GrantRequest,
  record: FamilyRecord | undefined,
  expiresAt: number,
): Omit<TokenStamp, 'jti'> {
  return {
    issuer: issuerOf(ctx, configuration),
    issuedAt: now,
    expiresAt,
    ...(record === undefined ? {} : { sessionId: record.session.id }),
  };
}

/**
 * Checks that the token contains the realm role `offline_access`, which offline tokens require. A refresh can omit the
 * scope of that name, so for a refresh it is enough that the user has the role
 * (docs/keycloak/sessions.md#offline-sessions).
 *
 * @throws Refusal `offline-not-allowed`
 */
function checkOfflineAllowed({ configuration, user, roleIds }: ClaimsInput, { renews }: Grant): void {
  const held = renews ? effectiveRoleIds(configuration, user) : roleIds;
  for (const id of held) {
    const role = configuration.roles.get(id);
    if (role?.name === 'offline_access' && role.clientUuid === undefined) return;
  }
  throw new Refusal('offline-not-allowed');
}

function addRefreshDetails(
  { event, grant }: GrantRequest,
  refresh: IssuedRefreshToken | undefined,
  accessTokenExpiresAt: number,
): void {
  if (grant.renews) {
    event.details['access_token_expiration_time'] = String(accessTokenExpiresAt);
    if (refresh !== undefined) event.details['updated_refresh_token_id'] = refresh.id;
    return;
  }
  if (refresh === undefined) return;
  event.details['refresh_token_id'] = refresh.id;
  event.details['refresh_token_type'] = refresh.offline ? 'Offline' : 'Refresh';
}

/**
 * Gathers the data for the claims: the scopes that the user may use, the roles that the token may name, and the clients
 * that own them. Roles and attributes are always the current ones, even at a refresh.
 */
export async function gatherClaims(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  about: {
    client: Client;
    user: User;
    granted: GrantedScopes;
    notes: Readonly<Record<string, string>>;
  },
): Promise<ClaimsInput> {
  const { client, user, notes } = about;
  const effective = effectiveRoleIds(configuration, user);
  const granted = permittedScopes(configuration, about.granted, effective);
  const roleIds = narrowRoles(configuration, client, granted, effective);
  const clientsByUuid = new Map<string, Client>();
  const owners = [...roleOwners(configuration, roleIds)];
  for (const owner of await ctx.store.findClients(configuration.realm.id, owners))
    clientsByUuid.set(owner.id, owner);
  return { configuration, client, user, granted, roleIds, notes, clientsByUuid, baseUrl: ctx.baseUrl };
}
