import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { keptScopes, mapClaims, resolveScopes } from '../claims/index.ts';
import { authenticateClient } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { audienceOf, textClaim, verifyRealmJwt } from '../jwt.ts';
import { checkRealmEnabled, checkTransport, getRealm } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { type ActiveToken, gatherClaims, hashRefreshToken, judgeClaims } from '../token/index.ts';

/** The body of a response: `{"active":false}`, or the token's claims with `active: true` (RFC 7662 §2.2). */
export type Introspection = Readonly<Record<string, unknown>> & { active: boolean };

const INACTIVE: Introspection = { active: false };

/** The claims that the response copies from the token. Mappers compute all others from the current records. */
const OWN_CLAIMS = ['exp', 'iat', 'auth_time', 'jti', 'iss', 'sub', 'typ', 'azp', 'nonce', 'sid', 'scope'];

/**
 * Introspects a token for a confidential client, which may be bearer-only (RFC 7662;
 * docs/keycloak/tokens.md#introspection). An access token is active only for a client in its audience. A refresh token
 * is active only for its own client, and only if `token_type_hint` is `refresh_token`.
 *
 * @throws Refusal of the group "introspection"
 */
export async function introspectToken(
  ctx: ProtocolContext,
  request: ProtocolRequest,
): Promise<Answer<Introspection>> {
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);
  checkRealmEnabled(configuration, 'introspection');
  const event = new EventDraft(ctx, configuration, 'INTROSPECT_TOKEN', request.remoteAddress);
  try {
    const client = await authenticate(ctx, configuration, request, event);
    if (request.duplicated) throw new Refusal('duplicated-parameter');
    const token = request.form.get('token');
    if (token === undefined) throw new Refusal('introspect-missing-token');
    const hint = request.form.get('token_type_hint') ?? 'access_token';
    if (hint !== 'access_token' && hint !== 'refresh_token') throw new Refusal('introspect-unsupported-type');
    const body = await introspect(ctx, configuration, client, token, hint);
    if (body.active) event.succeeded();
    else event.refused(new Refusal('introspect-missing-token', { eventError: 'token_introspection_failed' }));
    return { body };
  } catch (error) {
    if (error instanceof Refusal) event.refused(error);
    throw error;
  }
}

/**
 * Authenticates the client. Introspection has its own texts for the refusals (docs/keycloak/tokens.md#introspection).
 */
async function authenticate(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: ProtocolRequest,
  event: EventDraft,
): Promise<Client> {
  try {
    const { client, method } = await authenticateClient(ctx, configuration, request, 'client-unknown');
    event.clientId = client.clientId;
    event.details['client_auth_method'] = method;
    if (client.publicClient) throw new Refusal('introspect-public-client', { eventError: 'not_allowed' });
    return client;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { eventError } = error;
    if (error.case === 'client-unknown') throw new Refusal('introspect-client-unknown', { eventError });
    if (error.case === 'client-credentials-wrong')
      throw new Refusal('introspect-client-wrong', { eventError });
    throw error;
  }
}

async function introspect(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  requester: Client,
  token: string,
  hint: 'access_token' | 'refresh_token',
): Promise<Introspection> {
  const claims = verifyRealmJwt(ctx, configuration, token);
  if (claims === undefined) return INACTIVE;
  const typ = textClaim(claims, 'typ');
  if (hint === 'refresh_token') {
    if ((typ !== 'Refresh' && typ !== 'Offline') || claims['azp'] !== requester.clientId) return INACTIVE;
    if (!(await isNewest(ctx, configuration, claims, token))) return INACTIVE;
  } else {
    if (typ !== 'Bearer' && typ !== 'ID') return INACTIVE;
    if (!audienceOf(claims).includes(requester.clientId)) return INACTIVE;
  }
  const verdict = await judgeClaims(ctx, configuration, claims);
  return verdict.outcome === 'active' ? renderIntrospection(ctx, configuration, verdict) : INACTIVE;
}

/**
 * Whether the realm's rotation rules still allow a refresh with the token (docs/keycloak/tokens.md#rotation).
 * Introspection does not count as a use of the token.
 */
async function isNewest(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  claims: Readonly<Record<string, unknown>>,
  token: string,
): Promise<boolean> {
  const [sessionId, familyId] = [textClaim(claims, 'sid'), textClaim(claims, 'reuse_id')];
  if (sessionId === undefined || familyId === undefined) return false;
  const found = await ctx.store.findFamily(sessionId, familyId);
  if (found === undefined || found.family.realmId !== configuration.realm.id) return false;
  const { revokeRefreshToken, refreshTokenMaxReuse } = configuration.realm.settings;
  const { currentHash, parentHash, parentUses } = found.family;
  const hash = hashRefreshToken(token);
  if (!revokeRefreshToken || currentHash.equals(hash)) return true;
  return parentHash?.equals(hash) === true && parentUses <= refreshTokenMaxReuse;
}

async function renderIntrospection(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  { claims, client, user, session }: ActiveToken,
): Promise<Introspection> {
  const scope = keptScopes(configuration, client, textClaim(claims, 'scope') ?? '');
  const scopes = resolveScopes(configuration, client, scope);
  if (scopes.outcome === 'invalid') return INACTIVE;
  const notes = session?.notes ?? {};
  const input = await gatherClaims(ctx, configuration, { client, user, granted: scopes.granted, notes });
  const mapped = mapClaims('introspection', input);
  const own = Object.fromEntries(
    OWN_CLAIMS.filter((name) => claims[name] !== undefined).map((name) => [name, claims[name]]),
  );
  const isRefresh = claims['typ'] === 'Refresh' || claims['typ'] === 'Offline';
  const audience = isRefresh ? joinAudience(mapped['aud'], claims['aud']) : claims['aud'];
  return {
    ...mapped,
    ...own,
    ...(audience === undefined ? {} : { aud: audience }),
    client_id: client.clientId,
    username: user.username,
    token_type: claims['typ'],
    active: true,
  };
}

/** Returns `aud` for a refresh token: the audience of the access token that was issued with it, then the issuer. */
function joinAudience(mapped: unknown, own: unknown): unknown {
  return mapped === undefined ? own : [mapped, own].flat();
}
