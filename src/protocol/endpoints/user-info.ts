import { isJsonObject } from '../../core/index.ts';
import { isSignatureAlgorithm, signJws } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import {
  type GrantedScopes,
  isLightweight,
  keptScopes,
  mapClaims,
  readsRequestedClaims,
  resolveScopes,
} from '../claims/index.ts';
import { checkOrigin } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { numberClaim, parseJwt, textClaim } from '../jwt.ts';
import { checkTransport, getRealm, issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { type ActiveToken, gatherClaims, type RefusedToken, verifyAccessToken } from '../token/index.ts';

const DESCRIPTIONS: Readonly<Record<RefusedToken['reason'], string>> = {
  invalid: 'Token verification failed',
  expired: 'Token verification failed',
  revoked: 'Token verification failed',
  stale: 'Token verification failed',
  'session-gone': 'user_session_not_found',
  'user-disabled': 'User disabled',
  'client-disabled': 'Client disabled',
};

const EVENT_ERRORS: Readonly<Partial<Record<RefusedToken['reason'], string>>> = {
  'session-gone': 'user_session_not_found',
  'user-disabled': 'user_disabled',
  'client-disabled': 'client_disabled',
};

/** The claims about the user that the client receives. */
export interface UserInfo extends Answer<Record<string, unknown>> {
  /** The same claims as a JWT, if the client wants a signed response. */
  signed?: string;
}

/**
 * Returns the claims about the user of an access token with the scope `openid` (OpenID Connect Core §5.3;
 * docs/keycloak/tokens.md#user-info). Also works in a disabled realm.
 *
 * @throws Refusal of the group "user info", or `invalid-origin`
 */
export async function userInfo(ctx: ProtocolContext, request: ProtocolRequest): Promise<UserInfo> {
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);
  const event = new EventDraft(ctx, configuration, 'USER_INFO_REQUEST', request.remoteAddress);
  event.details['auth_method'] = 'validate_access_token';
  let allowOrigin = request.origin;
  try {
    const token = readBearer(request);
    const verified = await verifyAccessToken(ctx, configuration, token);
    if (verified.outcome === 'refused') {
      // The event names a client only if it exists, because the metrics have a time series for each client name.
      const issuedTo = textClaim(parseJwt(token)?.claims ?? {}, 'azp') ?? '';
      event.clientId = (await ctx.store.findClient(configuration.realm.id, issuedTo))?.clientId;
      throw new Refusal('userinfo-invalid-token', {
        description: DESCRIPTIONS[verified.reason],
        eventError: EVENT_ERRORS[verified.reason],
        detail: verified.reason,
      });
    }
    const { client, user, claims, session } = verified;
    event.clientId = client.clientId;
    event.userId = user.id;
    event.sessionId = session?.id;
    allowOrigin = undefined;
    allowOrigin = checkOrigin(ctx, client, request.origin);
    const scope = textClaim(claims, 'scope') ?? '';
    if (!scope.split(' ').includes('openid')) throw new Refusal('userinfo-scope');
    if (isLightweight(client) && claims['sub'] === undefined)
      throw new Refusal('userinfo-invalid-token', {
        description: 'Lightweight access token not allowed for userinfo endpoint',
      });
    const scopes = resolveScopes(configuration, client, keptScopes(configuration, client, scope));
    const granted = scopes.outcome === 'granted' ? scopes.granted : undefined;
    if (granted === undefined) throw new Refusal('userinfo-scope');
    const notes = { ...session?.notes, ...(await requestNotes(ctx, verified, granted)) };
    const input = await gatherClaims(ctx, configuration, { client, user, granted, notes });
    const body = { sub: user.id, ...withoutEmpty(mapClaims('userinfo', input)) };
    const signed = await sign(ctx, configuration, client, body);
    if (signed !== undefined) event.details['signature_required'] = 'true';
    event.succeeded();
    return { body, allowOrigin, ...(signed === undefined ? {} : { signed }) };
  } catch (error) {
    if (error instanceof Refusal) {
      error.allowOrigin ??= allowOrigin;
      event.refused(error);
    }
    throw error;
  }
}

/**
 * Signs the claims as a JWT if the client's attribute `user.info.response.signature.alg` names an algorithm (OpenID
 * Connect Core §5.3.2; docs/keycloak/tokens.md#user-info).
 */
async function sign(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  { attributes, clientId }: Client,
  claims: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const algorithm = attributes['user.info.response.signature.alg'] ?? '';
  if (!isSignatureAlgorithm(algorithm)) return undefined;
  const key = ctx.keys.signingKey(configuration, algorithm);
  return signJws(key, { ...claims, iss: issuerOf(ctx, configuration), aud: clientId });
}

/** Returns the notes of the authorization request, if the client's claims depend on them. */
async function requestNotes(
  ctx: ProtocolContext,
  { client, session, claims }: ActiveToken,
  granted: GrantedScopes,
): Promise<Readonly<Record<string, string>>> {
  if (session === undefined || !readsRequestedClaims(client, granted)) return {};
  return ctx.store.findClientNotes(session.id, session.offline, client.id, numberClaim(claims, 'iat') ?? 0);
}

/** Removes claims without a value, also within `address` (OpenID Connect Core §5.3.2). */
function withoutEmpty(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(claims)) {
    const kept = name === 'address' && isJsonObject(value) ? withoutEmpty(value) : value;
    if (kept === '' || kept === null || (kept !== value && Object.keys(Object(kept)).length === 0)) continue;
    found[name] = kept;
  }
  return found;
}

/**
 * Reads the token from the header or the form, but never from the query (RFC 6750 §2;
 * docs/keycloak/tokens.md#user-info).
 */
function readBearer(request: ProtocolRequest): string {
  const header = /^bearer +(.*)$/i.exec(request.authorization ?? '')?.[1]?.trim();
  const field = request.form.get('access_token');
  if (header !== undefined && field !== undefined) throw new Refusal('userinfo-doubled');
  const token = header ?? field;
  if (token === undefined || token === '') throw new Refusal('userinfo-missing-token');
  return token;
}
