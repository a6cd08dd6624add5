import { randomId, uuid } from '../../core/index.ts';
import { sha256, signJws } from '../../crypto/index.ts';
import type { UserSession } from '../../model/index.ts';
import { issuerOf, type ProtocolContext } from '../../protocol/index.ts';
import { userSessionEnds } from '../../protocol/session/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { CookieChange } from '../contract.ts';
import { IDENTITY_TYPE } from './sso-session.ts';

/** Seconds that a browser keeps the user name of a remembered login (facts §12: one year). */
const REMEMBER_ME = 31_536_000;
const REMEMBERED = 'username:';

/**
 * The cookies of a login (facts §12): `KEYCLOAK_IDENTITY`, a JWT by the realm's HMAC key, for as long as the
 * browser runs or, remembered, as long as the session may live; `KEYCLOAK_SESSION`, which scripts of the session
 * iframe read; `KEYCLOAK_REMEMBER_ME`, where the realm offers it.
 *
 * @param login `now`: second of the request; `authenticatedAt`: the second at which the user proved themselves;
 *   `stateChecker`: made anew unless given
 */
export async function makeSsoCookies(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  login: {
    session: UserSession;
    username: string;
    now: number;
    authenticatedAt: number;
    stateChecker?: string;
  },
): Promise<readonly CookieChange[]> {
  const { session, username, now, authenticatedAt, stateChecker = newStateChecker(ctx) } = login;
  const { maxEnd } = userSessionEnds(configuration.realm.settings, session);
  const identity = await signJws(ctx.keys.signingKey(configuration, 'HS512'), {
    exp: maxEnd,
    iat: now,
    auth_time: authenticatedAt,
    jti: uuid(ctx.random),
    iss: issuerOf(ctx, configuration),
    sub: session.userId,
    typ: IDENTITY_TYPE,
    sid: session.id,
    state_checker: stateChecker,
  });
  const maxAge = Math.max(0, maxEnd - now);
  return [
    {
      name: 'KEYCLOAK_IDENTITY',
      value: identity,
      httpOnly: true,
      sameSite: 'None',
      ...(session.rememberMe ? { maxAge } : {}),
    },
    {
      name: 'KEYCLOAK_SESSION',
      value: sessionCookieValue(session.id),
      httpOnly: false,
      sameSite: 'None',
      maxAge,
    },
    ...rememberMe(configuration, session, username),
  ];
}

/** The secret of one browser's login that its own pages and no other site know. */
export function newStateChecker({ random }: Pick<ProtocolContext, 'random'>): string {
  return randomId(random, 32);
}

/** What `KEYCLOAK_SESSION` holds: the hash of the `session_state` that clients know, so that it tells no more. */
export function sessionCookieValue(sessionId: string): string {
  return sha256(sessionId).toString('base64url');
}

/** Takes the login from the browser; the cookie that remembers its user name stays (facts §12, observed logout). */
export function clearSsoCookies(): readonly CookieChange[] {
  return [
    { name: 'KEYCLOAK_IDENTITY', value: '', httpOnly: true, sameSite: 'None' },
    { name: 'KEYCLOAK_SESSION', value: '', httpOnly: false, sameSite: 'None' },
  ];
}

/** The user name in `KEYCLOAK_REMEMBER_ME`; only a proposal for the form. */
export function readRememberedName(value: string | undefined): string | undefined {
  if (!value?.startsWith(REMEMBERED)) return undefined;
  try {
    return decodeURIComponent(value.slice(REMEMBERED.length)) || undefined;
  } catch {
    return undefined;
  }
}

function rememberMe(
  { realm }: RealmConfiguration,
  session: UserSession,
  username: string,
): readonly CookieChange[] {
  if (!realm.settings.rememberMe) return [];
  const cookie = { name: 'KEYCLOAK_REMEMBER_ME', httpOnly: true, sameSite: 'None' } as const;
  if (!session.rememberMe) return [{ ...cookie, value: '' }];
  return [{ ...cookie, value: `${REMEMBERED}${encodeURIComponent(username)}`, maxAge: REMEMBER_ME }];
}
