import { hash } from 'node:crypto';
import { seconds } from '../../core/index.ts';
import {
  type Client,
  clientSessionEnds,
  isAlive,
  isSessionAlive,
  type User,
  type UserSession,
} from '../../model/index.ts';
import type { FamilyInSession, RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { numberClaim, textClaim, verifyRealmJwt } from '../jwt.ts';
import { issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import { endSessionOf } from '../session/index.ts';

/** The content of a refresh token that this realm signed. */
export interface RefreshToken {
  id: string;
  /** Claim `reuse_id`. */
  familyId: string;
  sessionId: string;
  userId: string;
  /** The `client_id` of the client that received it. */
  clientId: string;
  offline: boolean;
  issuedAt: number;
  /** Absent for an offline token that never expires. */
  expiresAt: number | undefined;
  /** The token as sent. */
  text: string;
  /** The SHA-256 hash of `text`. */
  hash: Buffer;
}

/** Returns the SHA-256 hash of a refresh token. The store never contains the token itself. */
export function hashRefreshToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Reads a refresh token and checks its signature, type and issuer (docs/keycloak/tokens.md#refresh). Does not check
 * times, client or session.
 *
 * @throws Refusal `refresh-token-refused`
 */
export function readRefreshToken(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  token: string,
): RefreshToken {
  const claims = verifyRealmJwt(ctx, configuration, token);
  const typ = claims === undefined ? undefined : claims['typ'];
  if (claims === undefined || (typ !== 'Refresh' && typ !== 'Offline'))
    throw refused('Invalid refresh token');
  const issuer = issuerOf(ctx, configuration);
  if (claims['iss'] !== issuer) throw refused(`Invalid token issuer. Expected '${issuer}'`);
  const text = (name: string): string => {
    const value = textClaim(claims, name);
    if (value === undefined) throw refused('Invalid refresh token');
    return value;
  };
  return {
    id: text('jti'),
    familyId: text('reuse_id'),
    sessionId: text('sid'),
    userId: text('sub'),
    clientId: text('azp'),
    offline: typ === 'Offline',
    issuedAt: numberClaim(claims, 'iat') ?? 0,
    expiresAt: numberClaim(claims, 'exp'),
    text: token,
    hash: hashRefreshToken(token),
  };
}

/**
 * Checks the realm's notBefore, the expiry and the client, in this order.
 *
 * @throws Refusal `refresh-token-refused`
 */
export function checkRefreshTimesAndClient(
  configuration: RealmConfiguration,
  client: Client,
  token: RefreshToken,
  now: number,
): void {
  if (token.issuedAt < configuration.realm.settings.notBefore) throw refused('Stale token');
  if (token.expiresAt !== undefined && token.expiresAt <= now) throw refused('Token is not active');
  checkRefreshClient(client, token);
}

/** Checks that the token belongs to the client. @throws Refusal `refresh-token-refused` */
export function checkRefreshClient(client: Client, token: RefreshToken): void {
  if (token.clientId !== client.clientId)
    throw refused("Invalid refresh token. Token client and authorized client don't match");
}

/**
 * Returns the refusal of a token whose token family no longer exists: the user session ended, the token was revoked, or
 * its client was removed from the session. Keycloak has a message for each (docs/keycloak/tokens.md#refresh).
 */
export async function explainMissingFamily(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  token: RefreshToken,
): Promise<Refusal> {
  const session = await ctx.store.findSession(token.sessionId, token.offline);
  const now = seconds(ctx.clock);
  if (session !== undefined && isSessionAlive(configuration.realm.settings, session, now)) {
    checkUser(await ctx.store.findUser(session.realmId, session.userId), session, token);
    const detached = await ctx.store.wasDetached(token.familyId);
    return refused(detached ? "Session doesn't have required client" : 'Token is not active');
  }
  return refused(token.offline ? 'Offline user session not found' : 'Session not active');
}

/**
 * Checks the user session, the user, the client session, the client's notBefore and the user's notBefore, in this order
 * (docs/keycloak/tokens.md#refresh). Removes a session or token family that has expired, and notifies the clients of
 * the session.
 *
 * The user's notBefore does not affect offline tokens. An administrator's logout sets it, and offline tokens outlive
 * that logout (docs/keycloak/sessions.md#offline-sessions).
 *
 * @throws Refusal `refresh-token-refused`
 */
export async function checkRefreshSession(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  client: Client,
  token: RefreshToken,
  found: FamilyInSession,
  user: User | undefined,
  now: number,
): Promise<User> {
  const { session, family } = found;
  const { settings } = configuration.realm;
  if (!isSessionAlive(settings, session, now)) {
    await endSessionOf(ctx, session);
    throw refused(session.offline ? 'Offline session not active' : 'Session not active');
  }
  const owner = checkUser(user, session, token);
  if (!isAlive(clientSessionEnds(settings, client, session, family), now)) {
    await ctx.store.removeFamily(family.sessionId, family.id);
    throw refused('Client session not active');
  }
  if (token.issuedAt < family.startedAt)
    throw refused('refresh token issued before the client session started');
  const userNotBefore = session.offline ? 0 : owner.notBefore;
  if (token.issuedAt < Math.max(client.notBefore, userNotBefore)) throw refused('Stale token');
  return owner;
}

/** Checks the user of a session, and that the token is not older than the session. */
function checkUser(user: User | undefined, session: UserSession, token: RefreshToken): User {
  if (user === undefined) throw refused('Session not active');
  if (!user.enabled) throw refused('User disabled', 'user_disabled');
  if (token.issuedAt < session.startedAt)
    throw refused('Refresh token issued before the user session started');
  return user;
}

/** Returns a refusal of a refresh token. The event has the description as its reason. */
export function refused(description: string, eventError?: string): Refusal {
  return new Refusal('refresh-token-refused', { description, detail: description, eventError });
}
