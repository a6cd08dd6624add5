import type { Client, RealmSettings, TokenFamily, UserSession } from '../../model/index.ts';
import type { FamilyInSession, RealmConfiguration } from '../../store/index.ts';

/** Keycloak's values where a realm's own is 0 or less, seconds (facts §4.1). */
const DEFAULTS = { idle: 1800, max: 36_000, offlineIdle: 2_592_000, offlineMax: 5_184_000 } as const;

/** When a session ends if nobody uses it, and at the latest; seconds since the Unix epoch. */
export interface SessionEnds {
  idleEnd: number;
  /** Infinity: it never ends by age. */
  maxEnd: number;
}

type SessionTimes = Pick<UserSession, 'offline' | 'startedAt' | 'lastAccessAt' | 'rememberMe'>;
type FamilyTimes = Pick<TokenFamily, 'startedAt' | 'lastRefreshAt'>;

/** End of a user session (facts §4.1, "user session idle end" and "user session max end"). */
export function userSessionEnds(settings: RealmSettings, session: SessionTimes): SessionEnds {
  const { idle, max } = sessionLimits(settings, session);
  return { idleEnd: session.lastAccessAt + idle, maxEnd: session.startedAt + max };
}

/**
 * End of a client's part in a user session: idle by the client's own setting or the realm's, at most the user
 * session's own age (facts §4.1, "client session idle" and "client session max").
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
 * Second at which a refresh token issued now stops working, or undefined for an offline token without a maximum
 * (facts §4.1, "refresh token exp").
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
 * Second at which an access token issued now stops working (facts §4.1, "access token exp"). A service account
 * has a session for this moment alone, so its tokens end with the greatest age of a session too.
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

/** Whether a session lives at the second `now`: neither its idle time nor its age has been reached. */
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

/** A whole number above 0, from a setting or an attribute's text; undefined for everything else. */
function positive(value: string | number | undefined): number | undefined {
  const number = wholeNumber(value);
  return number !== undefined && number > 0 ? number : undefined;
}

function wholeNumber(value: string | number | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return value !== undefined && /^-?\d{1,10}$/.test(value.trim()) ? Number(value) : undefined;
}

/** Whether a user session lives; a remembered one ends when the realm stops remembering (facts §4.1, [26.5]). */
export function isSessionAlive(
  configuration: RealmConfiguration,
  session: FamilyInSession['session'],
  now: number,
): boolean {
  const { settings } = configuration.realm;
  if (session.rememberMe && !session.offline && !settings.rememberMe) return false;
  return isAlive(userSessionEnds(settings, session), now);
}
