import { seconds } from '../../core/index.ts';
import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { checkNotBearerOnly, withClient } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { numberClaim, textClaim, verifyRealmJwt } from '../jwt.ts';
import { checkRealmEnabled, checkTransport, getRealm, issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Revokes a token (RFC 7009; docs/keycloak/tokens.md#revocation). Revoking a refresh token revokes its token family,
 * and the user session continues. Revoking an access token affects no other token. `token_type_hint` is ignored.
 *
 * @throws Refusal of the group "revoke"; for `revoke-invalid-token` the response has the status 200
 */
export async function revokeToken(
  ctx: ProtocolContext,
  request: ProtocolRequest,
): Promise<Answer<undefined>> {
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);
  checkRealmEnabled(configuration, 'revocation');
  const event = new EventDraft(ctx, configuration, 'REVOKE_GRANT', request.remoteAddress);
  const { allowOrigin } = await withClient(
    ctx,
    configuration,
    request,
    event,
    'client-unknown',
    async (client) => {
      checkNotBearerOnly(client);
      if (request.duplicated) throw new Refusal('duplicated-parameter');
      const token = request.form.get('token');
      if (token === undefined) throw new Refusal('revoke-missing-token');
      const claims = readRevocable(ctx, configuration, client, token);
      event.userId = textClaim(claims, 'sub');
      event.sessionId = textClaim(claims, 'sid');
      event.details['token_id'] = textClaim(claims, 'jti') ?? '';
      event.details['token_type'] = String(claims['typ']);
      if (claims['typ'] === 'Bearer') await revokeAccessToken(ctx, claims);
      else await revokeFamily(ctx, configuration, client, claims);
      event.succeeded();
    },
  );
  return { body: undefined, allowOrigin };
}

/** Returns the claims of a token that this realm issued to this client, even if the token has expired. */
function readRevocable(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  client: Client,
  token: string,
): Claims {
  const claims = verifyRealmJwt(ctx, configuration, token);
  if (claims === undefined || claims['iss'] !== issuerOf(ctx, configuration))
    throw new Refusal('revoke-invalid-token');
  const { typ } = claims;
  if (typ !== 'Refresh' && typ !== 'Offline' && typ !== 'Bearer')
    throw new Refusal('revoke-unsupported-type');
  if (claims['azp'] !== client.clientId) throw new Refusal('revoke-other-client');
  return claims;
}

async function revokeFamily(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  client: Client,
  claims: Claims,
): Promise<void> {
  const familyId = textClaim(claims, 'reuse_id');
  const sessionId = textClaim(claims, 'sid');
  if (familyId === undefined || sessionId === undefined) throw new Refusal('revoke-invalid-token');
  const found = await ctx.store.findFamily(sessionId, familyId);
  if (found === undefined || found.family.clientUuid !== client.id) throw new Refusal('revoke-invalid-token');
  if (found.family.realmId !== configuration.realm.id) throw new Refusal('revoke-invalid-token');
  const { removed } = await ctx.store.removeFamily(sessionId, familyId);
  if (!removed) throw new Refusal('revoke-invalid-token');
}

/** How long a token without an expiry remains in the list of revoked tokens, in seconds. */
const ENDLESS = 10 * 365 * 86_400;

async function revokeAccessToken(ctx: ProtocolContext, claims: Claims): Promise<void> {
  const tokenId = textClaim(claims, 'jti');
  const sessionId = textClaim(claims, 'sid');
  if (tokenId === undefined) throw new Refusal('revoke-invalid-token');
  if (sessionId !== undefined) {
    const kinds = await Promise.all([
      ctx.store.findSession(sessionId, false),
      ctx.store.findSession(sessionId, true),
    ]);
    if (kinds.every((session) => session === undefined)) throw new Refusal('revoke-invalid-token');
  }
  const end = numberClaim(claims, 'exp') ?? seconds(ctx.clock) + ENDLESS;
  await ctx.store.revokeAccessToken(tokenId, Math.ceil(end));
}
