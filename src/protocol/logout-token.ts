import { seconds, uuid } from '../core/index.ts';
import { signJws } from '../crypto/index.ts';
import type { Client, UserSession } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';
import { issuerOf } from './realm-gate.ts';
import { signatureAlgorithm } from './token-claims.ts';

/** Seconds that a logout token is good for (facts: Keycloak's lifetime). */
const LIFETIME = 120;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** A logout token for one client (Back-Channel Logout 1.0 §2.4); it never has a `nonce`. */
export async function makeLogoutToken(
  ctx: Pick<ProtocolContext, 'baseUrl' | 'clock' | 'keys' | 'random'>,
  configuration: RealmConfiguration,
  client: Client,
  session: Pick<UserSession, 'id' | 'userId'>,
): Promise<string> {
  const now = seconds(ctx.clock);
  const key = ctx.keys.signingKey(configuration, signatureAlgorithm(configuration, client, 'id'));
  return signJws(
    key,
    {
      iat: now,
      exp: now + LIFETIME,
      jti: uuid(ctx.random),
      iss: issuerOf(ctx, configuration),
      aud: client.clientId,
      sub: session.userId,
      typ: 'Logout',
      ...(client.attributes['backchannel.logout.session.required'] === 'false' ? {} : { sid: session.id }),
      events: { [EVENT]: {} },
    },
    { typ: 'logout+jwt' },
  );
}
