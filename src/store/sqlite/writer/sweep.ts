import type { RealmSettings } from '../../../model/index.ts';
import type { Verbs } from '../messages.ts';
import type { Row, Statements } from '../statements.ts';

/** Seconds that a session or family may lie idle or live in a realm at most, whatever client it belongs to. */
interface Lifetimes {
  idle: number;
  /** Infinity: no end by age. */
  max: number;
}

const HOUR = 3600;
/** Seconds for which a code that has ended can still be told from one that never was. */
const CODE_MARK = HOUR;
/** Keycloak's values where a realm's own is 0 or less (facts §4.1). */
const DEFAULTS = { idle: 1800, max: 36_000, offlineIdle: 2_592_000, offlineMax: 5_184_000 };

/**
 * Removes at most `limit` expired records. A session is removed only when no setting of its realm, nor of any
 * client of it, could still let it be used; one that could is looked at again in the hour of its end.
 */
export function sweep(sql: Statements, { now, limit }: Verbs['sweep']['in']): { removed: number } {
  let removed = sweepSessions(sql, now, limit);
  const left = () => Math.max(0, limit - removed);
  removed += sql.run('authentication.sweep', { now, limit: left() });
  removed += sql.run('code.sweep', { before: now - CODE_MARK, limit: left() });
  removed += sql.run('claim.sweep', { now, limit: left() });
  removed += sql.run('revoked.sweep', { now, limit: left() });
  for (const { name } of sql.all('realm.names')) {
    if (removed >= limit) break;
    removed += sweepEvents(sql, String(name), now, limit - removed);
  }
  return { removed };
}

function sweepSessions(sql: Statements, now: number, limit: number): number {
  const lifetimes = new Map<string, Lifetimes>();
  let removed = 0;
  for (const session of sql.all('session.due', { hour: Math.floor(now / HOUR), limit })) {
    const offline = Number(session['offline']);
    const key = `${offline} ${session['realm_id']}`;
    let times = lifetimes.get(key);
    if (times === undefined) {
      times = readLifetimes(sql, String(session['realm_id']), offline === 1);
      lifetimes.set(key, times);
    }
    removed += sweepSession(sql, session, times, now);
  }
  return removed;
}

function sweepSession(sql: Statements, session: Row, times: Lifetimes, now: number): number {
  const key = { id: session['id'], offline: session['offline'] };
  const lastAccess = Math.max(Number(session['last_access_at']), Number(session['last_refresh_at'] ?? 0));
  const end = Math.min(lastAccess + times.idle, Number(session['started_at']) + times.max);
  if (end <= now) return sql.run('session.delete', key);
  const removed = sql.run('family.deleteIdle', {
    session_id: session['id'],
    offline: session['offline'],
    before: now - times.idle,
  });
  sql.run('session.lookAgain', { ...key, hour: Math.floor(end / HOUR) + 1 });
  return removed;
}

function readLifetimes(sql: Statements, realmId: string, offline: boolean): Lifetimes {
  const { settings } = JSON.parse(String(sql.get('realm.byId', { id: realmId })?.['doc'])) as {
    settings: RealmSettings;
  };
  const idle = offline
    ? [settings.offlineSessionIdleTimeout, settings.clientOfflineSessionIdleTimeout]
    : [
        settings.ssoSessionIdleTimeout,
        settings.ssoSessionIdleTimeoutRememberMe,
        settings.clientSessionIdleTimeout,
      ];
  const max = offline
    ? [settings.offlineSessionMaxLifespan, settings.clientOfflineSessionMaxLifespan]
    : [
        settings.ssoSessionMaxLifespan,
        settings.ssoSessionMaxLifespanRememberMe,
        settings.clientSessionMaxLifespan,
      ];
  for (const client of sql.all('client.byRealm', { realm_id: realmId })) {
    const attributes = (JSON.parse(String(client['doc'])) as { attributes?: Record<string, string> })
      .attributes;
    const prefix = offline ? 'client.offline.session' : 'client.session';
    idle.push(Number(attributes?.[`${prefix}.idle.timeout`] ?? 0));
    max.push(Number(attributes?.[`${prefix}.max.lifespan`] ?? 0));
  }
  const endless = offline && !settings.offlineSessionMaxLifespanEnabled;
  return {
    idle: greatest(idle, offline ? DEFAULTS.offlineIdle : DEFAULTS.idle),
    max: endless ? Number.POSITIVE_INFINITY : greatest(max, offline ? DEFAULTS.offlineMax : DEFAULTS.max),
  };
}

/** Where the realm leaves the first value unset, the default applies and counts too. */
function greatest(values: readonly number[], fallback: number): number {
  const known = values.filter((value) => Number.isFinite(value) && value > 0);
  const first = values[0];
  return Math.max(...known, first !== undefined && first > 0 ? 0 : fallback);
}

function sweepEvents(sql: Statements, name: string, now: number, limit: number): number {
  const realm = sql.get('realm.byName', { name });
  const { settings } = JSON.parse(String(realm?.['doc'])) as { settings: RealmSettings };
  const adminExpiration = Number(settings.attributes['adminEventsExpiration'] ?? 0);
  const take = (query: string, expiration: number, left: number): number =>
    expiration > 0 && left > 0
      ? sql.run(query, { realm_id: realm?.['id'], before: (now - expiration) * 1000, limit: left })
      : 0;
  const removed = take('event.sweep', settings.eventsExpiration, limit);
  return removed + take('admin_event.sweep', adminExpiration, limit - removed);
}
