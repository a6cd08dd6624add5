import { checkNotBearerOnly, withClient } from '../client/index.ts';
import type { Answer, ProtocolContext, ProtocolRequest } from '../context.ts';
import { EventDraft } from '../events.ts';
import { checkTransport, getRealm } from '../realm.ts';
import { endSessionOf } from '../session/index.ts';
import { checkRefreshClient, readRefreshToken, refused } from '../token/index.ts';

/** The form field that makes a POST to the logout endpoint a logout by token (facts §5.2). */
export function findRefreshToken(request: ProtocolRequest): string | undefined {
  return request.form.get('refresh_token');
}

/**
 * Ends the user session of a refresh token (spec, "POST …/logout"; facts §5.2): every token of every client in
 * it dies. A token that is used, expired or whose session is gone is as good; a disabled realm and a doubled
 * field are no reason to stay logged in.
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
