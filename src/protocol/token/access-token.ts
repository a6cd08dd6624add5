import { seconds } from '../../core/index.ts';
import { type Client, isSessionAlive, type User, type UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { numberClaim, parseJwt, textClaim, verifyRealmJwt } from '../jwt.ts';
import { issuerOf } from '../realm.ts';

/** The claims of a token with a valid signature. */
export type VerifiedClaims = Readonly<Record<string, unknown>>;

/** An active access token with its user, client and session. */
export interface ActiveToken {
  outcome: 'active';
  claims: VerifiedClaims;
  client: Client;
  user: User;
  /** Absent for a token of client credentials. */
  session?: UserSession;
}

/**
 * Why an access token is not active. `invalid`: its signature, type or issuer is wrong. `revoked`: only this token was
 * revoked. `stale`: it is older than a notBefore. `session-gone`: the user logged out or was deleted, or the client
 * left the session.
 */
export interface RefusedToken {
  outcome: 'refused';
  reason: 'invalid' | 'expired' | 'revoked' | 'stale' | 'session-gone' | 'user-disabled' | 'client-disabled';
}

const refusedToken = (reason: RefusedToken['reason']): RefusedToken => ({ outcome: 'refused', reason });

/**
 * Returns the realm that a token names in `iss`, or undefined if it is not a realm of this service. Does not verify the
 * token: the caller does that with the keys of this realm.
 */
export async function findIssuerRealm(
  ctx: ProtocolContext,
  token: string,
): Promise<RealmConfiguration | undefined> {
  const issuer = parseJwt(token)?.claims['iss'];
  const prefix = `${ctx.baseUrl}/realms/`;
  if (typeof issuer !== 'string' || !issuer.startsWith(prefix)) return undefined;
  try {
    return await ctx.store.findRealm(decodeURIComponent(issuer.slice(prefix.length)));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/**
 * Verifies an access token against the current records. The realm must have signed it, and it must not be expired,
 * revoked or stale. Its session must be alive and contain the client, and the user and the client must be enabled. A
 * service account's token has no session. A lightweight token has no `sub`, so its user is that of the session.
 */
export async function verifyAccessToken(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  token: string,
): Promise<ActiveToken | RefusedToken> {
  const claims = verifyRealmJwt(ctx, configuration, token);
  if (claims === undefined || claims['typ'] !== 'Bearer') return refusedToken('invalid');
  return judgeClaims(ctx, configuration, claims);
}

/** Does the same as `verifyAccessToken`, for claims whose signature and type are already verified. */
export async function judgeClaims(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  claims: VerifiedClaims,
): Promise<ActiveToken | RefusedToken> {
  const realmId = configuration.realm.id;
  const now = seconds(ctx.clock);
  const issuedAt = numberClaim(claims, 'iat') ?? 0;
  const expiresAt = numberClaim(claims, 'exp');
  const clientId = textClaim(claims, 'azp');
  const tokenId = textClaim(claims, 'jti');
  if (claims['iss'] !== issuerOf(ctx, configuration) || clientId === undefined || tokenId === undefined)
    return refusedToken('invalid');
  if (expiresAt !== undefined && expiresAt <= now) return refusedToken('expired');
  if (issuedAt < configuration.realm.settings.notBefore) return refusedToken('stale');

  const client = await ctx.store.findClient(realmId, clientId);
  if (client === undefined) return refusedToken('invalid');
  const sessionId = textClaim(claims, 'sid');
  const [revoked, session] = await Promise.all([
    ctx.store.isAccessTokenRevoked(tokenId),
    sessionId === undefined
      ? undefined
      : findLiveSession(ctx, configuration, claims, { sessionId, client, issuedAt }),
  ]);
  if (revoked) return refusedToken('revoked');
  if (sessionId !== undefined && session === undefined) return refusedToken('session-gone');

  // The session or the client determines the user, because mappers can write any value into `sub`.
  const user =
    session === undefined
      ? await ctx.store.findServiceAccount(client.id)
      : await ctx.store.findUser(realmId, session.userId);
  if (user === undefined) return refusedToken('session-gone');
  if (claims['sub'] !== undefined && claims['sub'] !== user.id) return refusedToken('invalid');
  // Without a session and a `sub`, the token names only its client. A client that was created later may have the same
  // name.
  if (
    session === undefined &&
    claims['sub'] === undefined &&
    issuedAt < Math.floor(user.createdTimestamp / 1000)
  )
    return refusedToken('invalid');
  if (!user.enabled) return refusedToken('user-disabled');
  if (!client.enabled) return refusedToken('client-disabled');
  const userNotBefore = session?.offline ? 0 : user.notBefore;
  if (issuedAt < Math.max(client.notBefore, userNotBefore)) return refusedToken('stale');
  return { outcome: 'active', claims, client, user, ...(session === undefined ? {} : { session }) };
}

/**
 * Finds the session of a token. If `jti` begins with `of`, or the token is an offline token, the session is offline.
 * Otherwise the online session is tried first, then the offline one. The client session must not be younger than the
 * token: a younger one means that the token's own client session was removed, for example after a reused code or a
 * withdrawn consent.
 */
async function findLiveSession(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  claims: VerifiedClaims,
  { sessionId, client, issuedAt }: { sessionId: string; client: Client; issuedAt: number },
): Promise<UserSession | undefined> {
  const offline = claims['typ'] === 'Offline' || textClaim(claims, 'jti')?.startsWith('of') === true;
  for (const kind of offline ? [true] : [false, true]) {
    const [session, hasClient] = await Promise.all([
      ctx.store.findSession(sessionId, kind),
      ctx.store.hasFamily(sessionId, kind, client.id, issuedAt),
    ]);
    if (session === undefined || !hasClient || session.realmId !== configuration.realm.id) continue;
    if (isSessionAlive(configuration.realm.settings, session, seconds(ctx.clock))) return session;
  }
  return undefined;
}
