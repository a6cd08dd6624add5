import type { RealmSettings } from '../../model/index.ts';
import type { Swept } from '../contract/index.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/** The longest idle time and lifetime, in seconds, that a realm and its clients permit for a session. */
interface Lifetimes {
  idle: number;
  /** Infinity if the lifetime is not limited. */
  max: number;
}

const HOUR = 3600;
/** Time in seconds for which the store remembers an expired code. */
const CODE_MARK = HOUR;
/** Keycloak's defaults, which apply if the realm's value is 0 or less (docs/keycloak/sessions.md#lifetimes). */
const DEFAULTS = { idle: 1800, max: 36_000, offlineIdle: 2_592_000, offlineMax: 5_184_000 };

/** Queries that remove at most `limit` rows. */
type SweepQuery = Extract<QueryName, `${string}.sweep`>;

/**
 * Removes expired records, and checks at most `limit` records in total. A session is removed only if no setting of its
 * realm or of a client could still permit its use. Otherwise it is checked again in the hour after its latest possible
 * end, so that the next batch skips it.
 */
export function* sweep({ now, limit }: Verbs['sweep']['in']): Steps<Swept> {
  const sessions = yield* sweepSessions(now, limit);
  let { removed, handled } = sessions;
  const take = function* <Q extends SweepQuery>(query: Q, values: (left: number) => SlotsOf<Q>): Steps<void> {
    if (handled >= limit) return;
    const rows = yield* run(query, values(limit - handled));
    removed += rows;
    handled += rows;
  };
  const expired = (left: number) => ({ now, limit: left });
  yield* take('authentication.sweep', expired);
  yield* take('code.sweep', (left) => ({ before: now - CODE_MARK, limit: left }));
  yield* take('claim.sweep', expired);
  yield* take('revoked.sweep', expired);
  for (const { name } of handled < limit ? yield* all('realm.names', {}) : []) {
    const realm = yield* get('realm.byName', { name });
    if (realm === undefined) continue;
    const { settings }: { settings: RealmSettings } = JSON.parse(realm.doc);
    const older = (age: number) => (left: number) => ({
      realm_id: realm.id,
      before: (now - age) * 1000,
      limit: left,
    });
    const adminEvents = Number(settings.attributes['adminEventsExpiration'] ?? 0);
    if (settings.eventsExpiration > 0) yield* take('event.sweep', older(settings.eventsExpiration));
    if (adminEvents > 0) yield* take('admin_event.sweep', older(adminEvents));
  }
  return { removed, handled };
}

function* sweepSessions(now: number, limit: number): Steps<Swept> {
  const lifetimes = new Map<string, Lifetimes>();
  let removed = 0;
  const due = yield* all('session.due', { hour: Math.floor(now / HOUR), limit });
  for (const session of due) {
    const offline = session.offline;
    const key = `${offline} ${session.realm_id}`;
    let times = lifetimes.get(key);
    if (times === undefined) {
      times = yield* readLifetimes(session.realm_id, offline === 1);
      lifetimes.set(key, times);
    }
    removed += yield* sweepSession(session, times, now);
  }
  return { removed, handled: due.length };
}

function* sweepSession(session: RowOf<'session.due'>, times: Lifetimes, now: number): Steps<number> {
  const key = { id: session.id, offline: session.offline };
  const lastAccess = Math.max(session.last_access_at, session.last_refresh_at ?? 0);
  const end = Math.min(lastAccess + times.idle, session.started_at + times.max);
  if (end <= now) return yield* run('session.delete', key);
  const removed = yield* run('family.deleteIdle', {
    session_id: session.id,
    offline: session.offline,
    before: now - times.idle,
  });
  yield* send('session.lookAgain', { ...key, hour: Math.floor(end / HOUR) + 1 });
  return removed;
}

function* readLifetimes(realmId: string, offline: boolean): Steps<Lifetimes> {
  const realm = yield* get('realm.byId', { id: realmId });
  if (realm === undefined) throw new Error(`a session belongs to the realm ${realmId}, which does not exist`);
  const { settings }: { settings: RealmSettings } = JSON.parse(realm.doc);
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
    const { attributes }: { attributes?: Record<string, string> } = JSON.parse(client.doc);
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

/** Returns the greatest value. The first one is the realm's setting: if it is 0 or less, `fallback` replaces it. */
function greatest(values: readonly number[], fallback: number): number {
  const known = values.filter((value) => Number.isFinite(value) && value > 0);
  const first = values[0];
  return Math.max(...known, first !== undefined && first > 0 ? 0 : fallback);
}
