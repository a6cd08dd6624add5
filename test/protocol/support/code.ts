import assert from 'node:assert/strict';
import { newCode } from '../../../src/browser/login/code.ts';
import { randomId, systemRandom } from '../../../src/core/index.ts';
import type { AuthorizationRequest, Client, User, UserSession } from '../../../src/model/index.ts';
import type { RealmInWorld, World } from './world.ts';

export const REDIRECT = 'https://web.example.test/cb';

/** The code verifier and the challenge in RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** Completes a login as the browser pages do, and returns the code and the session. */
export async function loginForCode(
  world: World,
  realm: RealmInWorld,
  { client, user }: { client: Client; user: User },
  { session: into, ...request }: Partial<AuthorizationRequest> & { session?: UserSession } = {},
): Promise<{ code: string; session: UserSession }> {
  const now = Math.floor(world.clock.now() / 1000);
  const notes = { auth_time: String(now), acr: '1' };
  const session = into ?? {
    id: randomId(systemRandom),
    offline: false,
    realmId: realm.fixture.realm.id,
    userId: user.id,
    startedAt: now,
    lastAccessAt: now,
    ipAddress: '192.0.2.7',
    rememberMe: false,
    notes,
  };
  const { text, code } = newCode(world.ctx, {
    realm: (await world.store.findRealm(realm.name))!.realm,
    clientUuid: client.id,
    userId: user.id,
    sessionId: session.id,
    notes,
    now,
    request: {
      redirectUri: REDIRECT,
      redirectUriSent: true,
      responseType: 'code',
      responseMode: 'query',
      scope: 'openid',
      prompt: [],
      ...request,
    },
  });
  const finished = await world.store.finishLogin({ session, sessionMustExist: into !== undefined, code });
  assert.equal(finished, 'finished');
  return { code: text, session };
}
