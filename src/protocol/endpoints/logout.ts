import { checkNotBearerOnly, withClient } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { checkTransport, getRealm } from '../realm.ts';
import { endSessionOf } from '../session/index.ts';
import { checkRefreshClient, readRefreshToken, refused } from '../token/index.ts';

/**
 * Returns the field `refresh_token` of a POST to the logout endpoint. A request with this field is a logout with a
 * refresh token (docs/keycloak/logout.md#logout-with-a-refresh-token).
 */
export function findRefreshToken(request: ProtocolRequest): string | undefined {
  return request.form.get('refresh_token');
}

/**
 * Ends the user session of a refresh token, with all tokens of all its clients
 * (docs/keycloak/logout.md#logout-with-a-refresh-token). Also succeeds if the token was used or has expired, if the
 * session has ended, if the realm is disabled, or if a field is repeated.
 *
 * @throws Refusal `refresh-token-refused`, or of the group "Client authentication"
 */
export async function logoutByRefreshToken(
  ctx: ProtocolContext,
  request: ProtocolRequest,
): Promise<Answer<undefined>> {
  const configuration = await getRealm(ctx, request.realm);
  checkTransport(configuration, request);
  const event = new EventDraft(ctx, configuration, 'LOGOUT', request.remoteAddress);
  const { allowOrigin } = await withClient(
    ctx,
    configuration,
    request,
    event,
    'client-unknown',
    async (client) => {
      checkNotBearerOnly(client);
      const token = readRefreshToken(ctx, configuration, findRefreshToken(request) ?? '');
      checkRefreshClient(client, token);
      const session = await ctx.store.findSession(token.sessionId, token.offline);
      if (session === undefined) return;
      if (token.issuedAt < session.startedAt) throw refused('Toked issued before the user session started');
      event.userId = session.userId;
      event.sessionId = session.id;
      const ended = await endSessionOf(ctx, session);
      if (ended !== undefined) event.succeeded();
    },
  );
  return { body: undefined, allowOrigin };
}
