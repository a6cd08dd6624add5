import type { Client } from './client.ts';
import type { RealmSettings } from './realm.ts';
import type { TokenFamily, UserSession } from './session.ts';

/**
 * Keycloak's defaults in seconds, which replace settings that are 0 or negative (docs/keycloak/sessions.md#lifetimes).
 */
const DEFAULTS = { idle: 1800, max: 36_000, offlineIdle: 2_592_000, offlineMax: 5_184_000 } as const;

/** The times at which a session ends, as Unix times in seconds. The earlier one applies. */
export interface SessionEnds {
  /** The end if the session stays idle. */
  idleEnd: number;
  /** The end even if the session is in use. Infinity if the session has no maximum age. */
  maxEnd: number;
}

type SessionTimes = Pick<UserSession, 'offline' | 'startedAt' | 'lastAccessAt' | 'rememberMe'>;
type FamilyTimes = Pick<TokenFamily, 'startedAt' | 'lastRefreshAt'>;

/** Returns when a user session ends (docs/keycloak/sessions.md#lifetimes). */
export function userSessionEnds(settings: RealmSettings, session: SessionTimes): SessionEnds {
  const { idle, max } = sessionLimits(settings, session);
  return { idleEnd: session.lastAccessAt + idle, maxEnd: session.startedAt + max };
}

/**
 * Returns when a client session ends (docs/keycloak/sessions.md#lifetimes). Its idle time is the client's own setting,
 * or that of the realm. A client session never outlives the user session.
 */
export function clientSessionEnds(
  settings: RealmSettings,
  client: Pick<Client, 'attributes'>,
  session: SessionTimes,
  family: FamilyTimes,
): SessionEnds {
  const limits = sessionLimits(settings, session);
  const names = session.offline ? OFFLINE_NAMES : ONLINE_NAMES;
  const idle = positive(client.attributes[names.idle]) ?? positive(settings[names.realmIdle]) ?? limits.idle;
  const own = positive(client.attributes[names.max]);
  const realmMax =
    session.offline && !settings.offlineSessionMaxLifespanEnabled ? undefined : settings[names.realmMax];
  const max = own ?? positive(realmMax) ?? limits.max;
  return {
    idleEnd: family.lastRefreshAt + idle,
    maxEnd: Math.min(family.startedAt + max, session.startedAt + limits.max),
  };
}

/**
 * Returns the expiry of a refresh token that is issued now, as Unix time in seconds. Returns undefined for an offline
 * token if its session has no maximum age.
 */
export function refreshTokenExpiry(
  settings: RealmSettings,
  client: Pick<Client, 'attributes'>,
  session: SessionTimes,
  family: FamilyTimes,
  now: number,
): number | undefined {
  const { idleEnd, maxEnd } = clientSessionEnds(settings, client, session, { ...family, lastRefreshAt: now });
  if (session.offline && maxEnd === Number.POSITIVE_INFINITY) return undefined;
  return Math.min(idleEnd, maxEnd);
}

/**
 * Returns the expiry of an access token that is issued now, as Unix time in seconds. A service account's token has no
 * session: it is limited as if a session started now.
 */
export function accessTokenExpiry(
  settings: RealmSettings,
  client: Pick<Client, 'attributes'>,
  within: { session: SessionTimes; family: FamilyTimes } | undefined,
  now: number,
): number {
  const session = within?.session ?? {
    offline: false,
    startedAt: now,
    lastAccessAt: now,
    rememberMe: false,
  };
  const family = within?.family ?? { startedAt: now, lastRefreshAt: now };
  const { maxEnd } = clientSessionEnds(settings, client, session, family);
  const own = wholeNumber(client.attributes['access.token.lifespan']);
  const lifespan = own !== undefined && own !== 0 ? own : settings.accessTokenLifespan;
  if (lifespan >= 0) return Math.min(now + lifespan, maxEnd);
  return Number.isFinite(maxEnd) ? maxEnd : now + DEFAULTS.offlineMax;
}

/** Whether a session is alive at `now`: neither its idle time nor its maximum age has passed. */
export function isAlive(ends: SessionEnds, now: number): boolean {
  return ends.idleEnd > now && ends.maxEnd > now;
}

const ONLINE_NAMES = {
  idle: 'client.session.idle.timeout',
  max: 'client.session.max.lifespan',
  realmIdle: 'clientSessionIdleTimeout',
  realmMax: 'clientSessionMaxLifespan',
} as const;

const OFFLINE_NAMES = {
  idle: 'client.offline.session.idle.timeout',
  max: 'client.offline.session.max.lifespan',
  realmIdle: 'clientOfflineSessionIdleTimeout',
  realmMax: 'clientOfflineSessionMaxLifespan',
} as const;

function sessionLimits(
  settings: RealmSettings,
  session: Pick<SessionTimes, 'offline' | 'rememberMe'>,
): { idle: number; max: number } {
  if (session.offline)
    return {
      idle: positive(settings.offlineSessionIdleTimeout) ?? DEFAULTS.offlineIdle,
      max: settings.offlineSessionMaxLifespanEnabled
        ? (positive(settings.offlineSessionMaxLifespan) ?? DEFAULTS.offlineMax)
        : Number.POSITIVE_INFINITY,
    };
  const idle = positive(settings.ssoSessionIdleTimeout) ?? DEFAULTS.idle;
  const max = positive(settings.ssoSessionMaxLifespan) ?? DEFAULTS.max;
  if (!session.rememberMe) return { idle, max };
  return {
    idle: Math.max(idle, settings.ssoSessionIdleTimeoutRememberMe),
    max: Math.max(max, settings.ssoSessionMaxLifespanRememberMe),
  };
}

/** The longest grace period of refresh tokens in seconds. A longer one would give a thief time to use a stolen token. */
export const MOST_GRACE_SECONDS = 300;

/** The attribute of a realm and of a client that sets the grace period. */
export const GRACE_ATTRIBUTE = 'refreshGraceSeconds';

/**
 * Returns the time in seconds for which a client may repeat a refresh whose response was lost
 * (docs/keycloak/tokens.md#grace). The attribute of the client wins over that of the realm. Default: 0.
 */
export function refreshGrace(
  settings: Pick<RealmSettings, 'attributes'>,
  client: Pick<Client, 'attributes'>,
): number {
  return graceOf(client.attributes) ?? graceOf(settings.attributes) ?? 0;
}

/** Returns the grace period in an attribute. Undefined if the attribute is absent or not a whole number in the range. */
export function graceOf(attributes: Readonly<Record<string, unknown>>): number | undefined {
  const value = attributes[GRACE_ATTRIBUTE];
  if (typeof value !== 'string' || !/^\d{1,3}$/.test(value)) return undefined;
  return Number(value) > MOST_GRACE_SECONDS ? undefined : Number(value);
}

/** Parses a whole number above 0 from a setting or an attribute. Returns undefined for any other value. */
function positive(value: string | number | undefined): number | undefined {
  const number = wholeNumber(value);
  return number !== undefined && number > 0 ? number : undefined;
}

function wholeNumber(value: string | number | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value !== undefined && /^-?\d{1,10}$/.test(value.trim()) ? Number(value) : undefined;
}

/**
 * Whether a user session is alive. A remembered session ends when the realm disables "remember me"
 * (docs/keycloak/sessions.md#remember-me).
 */
export function isSessionAlive(settings: RealmSettings, session: SessionTimes, now: number): boolean {
  if (session.rememberMe && !session.offline && !settings.rememberMe) return false;
  return isAlive(userSessionEnds(settings, session), now);
}
