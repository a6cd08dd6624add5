import type { RealmSettings } from '../../model/index.ts';
import type { Row } from '../rows.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

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
export function* sweep({ now, limit }: Verbs['sweep']['in']): Steps<{ removed: number }> {
  let removed = yield* sweepSessions(now, limit);
  const left = () => Math.max(0, limit - removed);
  removed += yield* run('authentication.sweep', { now, limit: left() });
  removed += yield* run('code.sweep', { before: now - CODE_MARK, limit: left() });
  removed += yield* run('claim.sweep', { now, limit: left() });
  removed += yield* run('revoked.sweep', { now, limit: left() });
  for (const { name } of yield* all('realm.names')) {
    if (removed >= limit) break;
    removed += yield* sweepEvents(String(name), now, limit - removed);
  }
  return { removed };
}

function* sweepSessions(now: number, limit: number): Steps<number> {
  const lifetimes = new Map<string, Lifetimes>();
  let removed = 0;
  for (const session of yield* all('session.due', { hour: Math.floor(now / HOUR), limit })) {
    const offline = Number(session['offline']);
    const key = `${offline} ${session['realm_id']}`;
    let times = lifetimes.get(key);
    if (times === undefined) {
      times = yield* readLifetimes(String(session['realm_id']), offline === 1);
      lifetimes.set(key, times);
    }
    removed += yield* sweepSession(session, times, now);
  }
  return removed;
}

function* sweepSession(session: Row, times: Lifetimes, now: number): Steps<number> {
  const key = { id: session['id'], offline: session['offline'] };
  const lastAccess = Math.max(Number(session['last_access_at']), Number(session['last_refresh_at'] ?? 0));
  const end = Math.min(lastAccess + times.idle, Number(session['started_at']) + times.max);
  if (end <= now) return yield* run('session.delete', key);
  const removed = yield* run('family.deleteIdle', {
    session_id: session['id'],
    offline: session['offline'],
    before: now - times.idle,
  });
  yield* send('session.lookAgain', { ...key, hour: Math.floor(end / HOUR) + 1 });
  return removed;
}

function* readLifetimes(realmId: string, offline: boolean): Steps<Lifetimes> {
  const { settings } = JSON.parse(String((yield* get('realm.byId', { id: realmId }))?.['doc'])) as {
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
  for (const client of yield* all('client.byRealm', { realm_id: realmId })) {
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

function* sweepEvents(name: string, now: number, limit: number): Steps<number> {
  const realm = yield* get('realm.byName', { name });
  const { settings } = JSON.parse(String(realm?.['doc'])) as { settings: RealmSettings };
  const adminExpiration = Number(settings.attributes['adminEventsExpiration'] ?? 0);
  function* take(query: string, expiration: number, left: number): Steps<number> {
    if (expiration <= 0 || left <= 0) return 0;
    return yield* run(query, { realm_id: realm?.['id'], before: (now - expiration) * 1000, limit: left });
  }
  const removed = yield* take('event.sweep', settings.eventsExpiration, limit);
  return removed + (yield* take('admin_event.sweep', adminExpiration, limit - removed));
}
