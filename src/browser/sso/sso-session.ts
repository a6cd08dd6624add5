import { seconds } from '../../core/index.ts';
import { isSessionAlive, type User, type UserSession } from '../../model/index.ts';
import { isAllowedOrigin } from '../../protocol/client/index.ts';
import {
  getRealm,
  issuerOf,
  numberClaim,
  type ProtocolContext,
  textClaim,
  verifyRealmJwt,
} from '../../protocol/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { BrowserRequest } from '../contract.ts';
import { cookieValues } from '../cookies.ts';

/** `typ` of the JWT in `KEYCLOAK_IDENTITY`. No other token of the realm has this type. */
export const IDENTITY_TYPE = 'Serialized-ID';

/** The existing login of a browser in a realm. */
export interface SsoSession {
  session: UserSession;
  user: User;
  /** Unix time in seconds at which the user last authenticated in this browser (claim `auth_time`). */
  authenticatedAt: number;
  /** Random text of this browser's login. Its forms send it back, so that no other site can send them (CSRF). */
  stateChecker: string;
}

/**
 * Finds the browser's login from its cookie `KEYCLOAK_IDENTITY` (docs/keycloak/pages.md#cookies). The cookie must be
 * current and signed by the realm. Its session must be alive, and its user must be enabled. If several cookies prove
 * different sessions, this service did not set all of them, so it accepts none of them (cookie tossing).
 */
export async function findSsoSession(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: Pick<BrowserRequest, 'cookies'>,
): Promise<SsoSession | undefined> {
  const [only, ...others] = await listSsoSessions(ctx, configuration, request);
  return others.length === 0 ? only : undefined;
}

/** Lists the sessions that the browser's cookies prove. If several cookies prove the same session, the newest counts. */
export async function listSsoSessions(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  request: Pick<BrowserRequest, 'cookies'>,
): Promise<readonly SsoSession[]> {
  const values = cookieValues(request, 'KEYCLOAK_IDENTITY');
  const read = await Promise.all(values.map((value) => readIdentity(ctx, configuration, value)));
  const found = read.filter((one) => one !== undefined);
  if (found.length < 2) return found;
  found.sort((one, other) => one.authenticatedAt - other.authenticatedAt);
  return [...new Map(found.map((one) => [one.session.id, one])).values()];
}

async function readIdentity(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  token: string,
): Promise<SsoSession | undefined> {
  const claims = verifyRealmJwt(ctx, configuration, token);
  if (claims === undefined || claims['typ'] !== IDENTITY_TYPE) return undefined;
  if (claims['iss'] !== issuerOf(ctx, configuration)) return undefined;
  const now = seconds(ctx.clock);
  const issuedAt = numberClaim(claims, 'iat') ?? 0;
  const sessionId = textClaim(claims, 'sid');
  const stateChecker = textClaim(claims, 'state_checker');
  if ((numberClaim(claims, 'exp') ?? 0) <= now || sessionId === undefined || stateChecker === undefined)
    return undefined;
  const session = await ctx.store.findSession(sessionId, false);
  if (session === undefined || session.realmId !== configuration.realm.id) return undefined;
  if (session.userId !== claims['sub'] || !isSessionAlive(configuration.realm.settings, session, now))
    return undefined;
  const user = await ctx.store.findUser(configuration.realm.id, session.userId);
  if (user === undefined || !user.enabled) return undefined;
  if (issuedAt < Math.max(configuration.realm.settings.notBefore, user.notBefore)) return undefined;
  return {
    session,
    user,
    authenticatedAt: numberClaim(claims, 'auth_time') ?? session.startedAt,
    stateChecker,
  };
}

/**
 * Whether a page of an origin may query the session iframe about a client's users (Session Management 1.0 §3.2). The
 * realm and the client must be enabled, and the origin must be in the client's `webOrigins` or be this service's own.
 *
 * @throws Refusal `realm-not-found`
 */
export async function checkSessionFrame(
  ctx: ProtocolContext,
  query: { realm: string; clientId: string; origin: string },
): Promise<'allowed' | 'refused'> {
  const { realm } = await getRealm(ctx, query.realm);
  const client = await ctx.store.findClient(realm.id, query.clientId);
  if (!realm.settings.enabled || client === undefined || !client.enabled) return 'refused';
  const own = new URL(ctx.baseUrl).origin === query.origin;
  return own || isAllowedOrigin(ctx, client, query.origin) ? 'allowed' : 'refused';
}
