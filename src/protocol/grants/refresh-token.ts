import type { Rotation } from '../../store/index.ts';
import { missingConsent, resolveRefreshScopes } from '../claims/index.ts';
import { Refusal } from '../refusal.ts';
import {
  checkRefreshSession,
  checkRefreshTimesAndClient,
  explainMissingFamily,
  type RefreshToken,
  readRefreshToken,
  refused,
  successionOf,
} from '../token/index.ts';
import type { Grant, GrantRequest, Proof } from './grant.ts';

/** `grant_type=refresh_token`: issues the next tokens of a session (RFC 6749 §6; docs/keycloak/tokens.md#refresh). */
export const refreshTokenGrant: Grant = {
  eventType: 'REFRESH_TOKEN',
  shortcut: 'rt',
  renews: true,
  use: 'continued',

  check({ request }) {
    if (!request.form.has('refresh_token')) throw new Refusal('missing-refresh-token');
  },

  async prove(grantRequest) {
    const { ctx, configuration, client, request, event, now } = grantRequest;
    const token = readRefreshToken(ctx, configuration, request.form.get('refresh_token') ?? '');
    addDetails(grantRequest, token);
    checkRefreshTimesAndClient(configuration, client, token, now);
    event.userId = token.userId;
    event.sessionId = token.sessionId;
    const [found, foundUser] = await Promise.all([
      ctx.store.findFamily(token.sessionId, token.familyId),
      findUser(grantRequest, token),
    ]);
    if (found === undefined || !isOwn(grantRequest, token, found.family))
      throw await explainMissingFamily(ctx, configuration, token);
    const user = await checkRefreshSession(ctx, configuration, client, token, found, foundUser, now);
    const requested = request.form.get('scope');
    const scopes = resolveRefreshScopes(configuration, client, found.family.scope, requested);
    if (scopes.outcome === 'invalid')
      throw new Refusal('invalid-scope', { description: `Invalid scopes: ${scopes.names}` });
    if (found.session.offline && !scopes.granted.scopes.some(({ name }) => name === 'offline_access'))
      checkOfflineStillAllowed(grantRequest);
    const consent = client.consentRequired ? await ctx.store.findConsent(user.id, client.id) : undefined;
    if (missingConsent(client, scopes.granted.scopes, consent).length > 0)
      throw new Refusal('consent-withdrawn');
    return {
      user,
      granted: scopes.granted,
      record: {
        session: { ...found.session, lastAccessAt: now },
        family: { ...found.family, lastRefreshAt: now },
      },
      notes: { ...found.session.notes, ...found.family.notes },
      commit: (nextHash, next) => rotate(grantRequest, token, nextHash, next),
    } satisfies Proof;
  },
};

/**
 * Rotates the token with one conditional write, which puts parallel requests with the same token into an order
 * (docs/keycloak/tokens.md#rotation). If the store detects a reuse, it ends the whole user session in the same
 * transaction (docs/keycloak/tokens.md#reuse). The session's clients are then notified (Back-Channel Logout 1.0 §2.5).
 *
 * Returns the refresh token of an earlier response if the client repeats the request within the grace period
 * (docs/keycloak/tokens.md#grace).
 *
 * @throws Refusal `refresh-token-refused`
 */
async function rotate(
  request: GrantRequest,
  token: RefreshToken,
  nextHash: Buffer,
  next: string | undefined,
): Promise<string | undefined> {
  const { ctx, configuration, event, now } = request;
  const succession = successionOf(request, token);
  const { revokeRefreshToken, refreshTokenMaxReuse } = configuration.realm.settings;
  const rotation: Rotation = {
    sessionId: token.sessionId,
    familyId: token.familyId,
    presentedHash: token.hash,
    nextHash,
    now,
    singleUse: revokeRefreshToken,
    maxReuse: Math.max(0, refreshTokenMaxReuse),
  };
  if (succession !== undefined && next !== undefined && revokeRefreshToken)
    rotation.grace = { seconds: succession.seconds, successor: succession.seal(next) };
  const result = await ctx.store.rotateRefreshToken(rotation);
  switch (result.outcome) {
    case 'rotated':
      return undefined;
    case 'repeated':
      event.details['refresh_token_repeated'] = 'true';
      return succession?.open(result.successor);
    case 'gone':
      throw await explainMissingFamily(ctx, configuration, token);
    case 'reused': {
      event.details['refresh_token_reuse'] = 'true';
      const session = { id: token.sessionId, userId: token.userId, offline: token.offline };
      const ended = { sessions: [{ session, clientUuids: result.clientUuids }] };
      await (await ctx.sessionEndings?.prepare(configuration.realm.id, ended))?.();
      throw refused(
        result.reason === 'exceeded' ? 'Maximum allowed refresh token reuse exceeded' : 'Stale token',
      );
    }
  }
}

/**
 * Rejects an offline token if its client no longer has the scope `offline_access`, as Keycloak 26.7.3 does. The refresh
 * itself need not request the scope.
 *
 * @throws Refusal `refresh-token-refused`
 */
function checkOfflineStillAllowed({ client, configuration }: GrantRequest): void {
  const ids = [...client.defaultClientScopeIds, ...client.optionalClientScopeIds];
  if (ids.some((id) => configuration.clientScopes.get(id)?.name === 'offline_access')) return;
  throw refused('Offline session invalid because offline access not granted anymore');
}

function findUser({ ctx, configuration }: GrantRequest, token: RefreshToken) {
  return ctx.store.findUser(configuration.realm.id, token.userId);
}

/** Whether the token names the realm, client, user and session of its token family. */
function isOwn(
  { client, configuration }: GrantRequest,
  token: RefreshToken,
  family: NonNullable<Proof['record']>['family'],
): boolean {
  return (
    family.realmId === configuration.realm.id &&
    family.clientUuid === client.id &&
    family.userId === token.userId &&
    family.sessionId === token.sessionId &&
    family.offline === token.offline
  );
}

function addDetails({ event, now }: GrantRequest, token: RefreshToken): void {
  event.details['refresh_token_id'] = token.id;
  event.details['refresh_token_type'] = token.offline ? 'Offline' : 'Refresh';
  event.details['refresh_token_sub'] = token.userId;
  event.details['age_of_refresh_token'] = String(now - token.issuedAt);
}
