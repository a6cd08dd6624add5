import type { RealmId, RealmSettings } from '../../model/index.ts';

/** The longest idle time and lifetime, in seconds, that a realm and its clients permit for a session. */
export interface Lifetimes {
  idle: number;
  /** Infinity if the lifetime is not limited. */
  longest: number;
}

/** The longest times of a realm's sessions. */
export interface SessionLifetimes {
  realmId: RealmId;
  online: Lifetimes;
  offline: Lifetimes;
}

/** Keycloak's defaults, which apply if the realm's value is 0 or less (docs/keycloak/sessions.md#lifetimes). */
const DEFAULTS = { idle: 1800, max: 36_000, offlineIdle: 2_592_000, offlineMax: 5_184_000 };

/**
 * Duration in seconds that stands for an unlimited one, and the maximum of all others. A Unix time plus this duration,
 * in hours, fits into 32 bits, in which Postgres stores it.
 */
export const ENDLESS = 1e12;

/** Attributes of a client, of which some contain its own lifetimes. */
type Attributes = Readonly<Record<string, string>>;

/**
 * Returns the longest times that the settings of a realm or of a client permit.
 *
 * @param clients the attributes of those clients that have lifetimes of their own
 */
export function sessionLifetimes(
  realmId: RealmId,
  settings: RealmSettings,
  clients: readonly Attributes[],
): SessionLifetimes {
  const own = (name: string) => clients.map((attributes) => wholeNumber(attributes[name]));
  const idle = [
    settings.ssoSessionIdleTimeout,
    settings.ssoSessionIdleTimeoutRememberMe,
    settings.clientSessionIdleTimeout,
    ...own('client.session.idle.timeout'),
  ];
  const max = [
    settings.ssoSessionMaxLifespan,
    settings.ssoSessionMaxLifespanRememberMe,
    settings.clientSessionMaxLifespan,
    ...own('client.session.max.lifespan'),
  ];
  const offlineIdle = [
    settings.offlineSessionIdleTimeout,
    settings.clientOfflineSessionIdleTimeout,
    ...own('client.offline.session.idle.timeout'),
  ];
  const offlineMax = [
    settings.offlineSessionMaxLifespan,
    settings.clientOfflineSessionMaxLifespan,
    ...own('client.offline.session.max.lifespan'),
  ];
  return {
    realmId,
    online: { idle: greatest(idle, DEFAULTS.idle), longest: greatest(max, DEFAULTS.max) },
    offline: {
      idle: greatest(offlineIdle, DEFAULTS.offlineIdle),
      longest: settings.offlineSessionMaxLifespanEnabled
        ? greatest(offlineMax, DEFAULTS.offlineMax)
        : Number.POSITIVE_INFINITY,
    },
  };
}

/**
 * Returns the greatest value, at most `ENDLESS`. The first one is the realm's setting: if it is 0 or less, `fallback`
 * replaces it.
 */
function greatest(values: readonly (number | undefined)[], fallback: number): number {
  const known = values.filter((value) => value !== undefined && Number.isFinite(value) && value > 0);
  const first = values[0];
  const least = first !== undefined && first > 0 ? 0 : fallback;
  return known.reduce<number>(
    (most, value = 0) => Math.max(most, Math.min(Math.ceil(value), ENDLESS)),
    least,
  );
}

/** Parses an attribute. Returns undefined for a value that the protocol ignores (model/session-lifetimes.ts). */
function wholeNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^-?\d{1,10}$/.test(value.trim()) ? Number(value) : undefined;
}
