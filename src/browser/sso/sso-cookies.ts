import { randomId, uuid } from '../../core/index.ts';
import { sha256, signJws } from '../../crypto/index.ts';
import { type UserSession, userSessionEnds } from '../../model/index.ts';
import { issuerOf, type ProtocolContext } from '../../protocol/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { CookieChange } from '../contract.ts';
import { IDENTITY_TYPE } from './sso-session.ts';

/**
 * How long a browser keeps the username of a remembered login, in seconds: one year (docs/keycloak/pages.md#cookies).
 */
const REMEMBER_ME = 31_536_000;
const REMEMBERED = 'username:';

/**
 * Builds the cookies of a login (docs/keycloak/pages.md#cookies). `KEYCLOAK_IDENTITY` is a JWT signed with the realm's
 * HMAC key. The cookie lasts until the browser closes or, for a remembered login, as long as the session. Scripts of
 * the session iframe read `KEYCLOAK_SESSION`. If the realm offers "Remember me", a remembered login stores the username
 * in `KEYCLOAK_REMEMBER_ME`, and any other login deletes that cookie.
 *
 * @param login `now` and `authenticatedAt`, the time at which the user authenticated, are Unix times in seconds.
 *   `stateChecker` defaults to a new one.
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

/** Generates the state checker of a browser's login: a secret that only the pages of that login know. */
export function newStateChecker({ random }: Pick<ProtocolContext, 'random'>): string {
  return randomId(random, 32);
}

/**
 * Returns the value of `KEYCLOAK_SESSION`: the hash of the `session_state`. Clients already know the session state, so
 * the hash reveals nothing to them.
 */
export function sessionCookieValue(sessionId: string): string {
  return sha256(sessionId).toString('base64url');
}

/**
 * Returns the changes that delete the cookies of the login. The cookie with the remembered username remains
 * (docs/keycloak/pages.md#cookies).
 */
export function clearSsoCookies(): readonly CookieChange[] {
  return [
    { name: 'KEYCLOAK_IDENTITY', value: '', httpOnly: true, sameSite: 'None' },
    { name: 'KEYCLOAK_SESSION', value: '', httpOnly: false, sameSite: 'None' },
  ];
}

/** Returns the username in `KEYCLOAK_REMEMBER_ME`, with which the login form is prefilled. */
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
