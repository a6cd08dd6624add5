import { seconds } from '../../core/index.ts';
import type { Client, User, UserSession } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { numberClaim, parseJwt, textClaim, verifyRealmJwt } from '../jwt.ts';
import { issuerOf } from '../realm.ts';
import { isSessionAlive } from '../session/index.ts';

/** The claims of a token whose signature holds. */
export type VerifiedClaims = Readonly<Record<string, unknown>>;

/** An access token in force: for whom, by which client, in which session. */
export interface ActiveToken {
  outcome: 'active';
  claims: VerifiedClaims;
  client: Client;
  user: User;
  /** Absent for a token of client credentials. */
  session?: UserSession;
}

/**
 * Why an access token does not count. `invalid`: signature, type or issuer; `expired`; `revoked`: it alone was
 * revoked; `stale`: older than a notBefore; `session-gone`: logged out, or the client left the session, or the
 * user was deleted.
 */
export interface RefusedToken {
  outcome: 'refused';
  reason: 'invalid' | 'expired' | 'revoked' | 'stale' | 'session-gone' | 'user-disabled' | 'client-disabled';
}

const refusedToken = (reason: RefusedToken['reason']): RefusedToken => ({ outcome: 'refused', reason });

/**
 * The realm that a token says it is from, by its `iss` (facts §7.1); undefined where that is no realm of this
 * service. Nothing of the token is proved: verify it with this realm.
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
 * Judges an access token as it is now: signed by the realm, neither expired nor revoked nor stale, its session
 * alive with the client still in it, user and client enabled. A service account's token has no session;
 * a lightweight one has no `sub`, its user is the session's.
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

/** The same for claims whose signature and type were looked at already. */
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

  // Whose token it is comes from the session or the client: mappers may write any `sub`.
  const user =
    session === undefined
      ? await ctx.store.findServiceAccount(client.id)
      : await ctx.store.findUser(realmId, session.userId);
  if (user === undefined) return refusedToken('session-gone');
  if (claims['sub'] !== undefined && claims['sub'] !== user.id) return refusedToken('invalid');
  // It names its client alone, and there may be another one of that name by now.
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
 * The session of a token, online or offline: the first two letters of `jti` and the type of an offline token
 * tell; both are tried where neither does. The client's part in it is not younger than the token: one that is began
 * after the token's own was taken away (a code that came twice, a consent withdrawn).
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
    if (isSessionAlive(configuration, session, seconds(ctx.clock))) return session;
  }
  return undefined;
}
