import type { Swept } from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { Lifetimes } from '../records/session-lifetimes.ts';
import { all, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

const HOUR = 3600;
/** Time in seconds for which the store remembers an expired code. */
export const CODE_MARK = HOUR;
/** Number that stands for an unlimited lifetime. Adding a Unix time to it loses no precision. */
const ENDLESS = 1e15;

type DueSession = RowOf<'sweep.due'>;

/**
 * Removes expired records, and handles at most `limit` records. A session is removed only if no setting of its realm or
 * of a client could still permit its use. Otherwise it is checked again in the hour after its latest possible end.
 * Every statement handles all sessions of the slice.
 */
export function* sweep(input: Verbs['sweep']['in']): Steps<Verbs['sweep']['out']> {
  const { now, limit } = input;
  const sessions = yield* sweepSessions(input);
  let { removed, handled } = sessions;
  const left = () => limit - handled;
  const expired = [
    ['sweep.authentications', { now }],
    ['sweep.codes', { before: now - CODE_MARK }],
    ['sweep.claims', { now }],
    ['sweep.revoked', { now }],
  ] as const;
  for (const [query, times] of expired) {
    if (left() <= 0) break;
    const rows = yield* run(query, { now, before: now, ...times, limit: left() });
    removed += rows;
    handled += rows;
  }
  return { removed, handled, unknown: sessions.unknown };
}

/** Sorts the due sessions by their lifetimes, and handles those with the same lifetimes together. */
function* sweepSessions({
  now,
  limit,
  lifetimes,
  dialect,
}: Verbs['sweep']['in']): Steps<Verbs['sweep']['out']> {
  const due = yield* all('sweep.due', { hour: Math.floor(now / HOUR), limit });
  const ofRealm = new Map(lifetimes.map((one) => [one.realmId, one]));
  const unknown = new Set<string>();
  const groups = new Map<string, Group>();
  for (const session of due) {
    const { offline } = session;
    const times = ofRealm.get(session.realm_id)?.[offline === 1 ? 'offline' : 'online'];
    if (times === undefined) {
      unknown.add(session.realm_id);
      continue;
    }
    const key = `${offline} ${times.idle} ${times.longest}`;
    const group = groups.get(key) ?? { offline, times, sessions: [] };
    groups.set(key, group);
    group.sessions.push(session);
  }
  const sum = { removed: 0, handled: 0 };
  for (const group of groups.values()) {
    const { removed, handled } = yield* sweepGroup(group, { now, dialect });
    sum.removed += removed;
    sum.handled += handled;
  }
  return { ...sum, unknown: [...unknown] };
}

interface Group {
  offline: number;
  times: Lifetimes;
  sessions: DueSession[];
}

/**
 * Removes or postpones sessions with the same lifetimes. On Postgres, a refresh may use a session at the same moment.
 * The sessions are already locked, so no token family can start in them. Idle families are removed first: each is
 * locked, and stays if it has been used meanwhile. A session that then has no family left has really expired. If
 * another transaction has locked one of its families, a later slice handles it.
 */
function* sweepGroup(
  { offline, times: { idle, longest }, sessions }: Group,
  { now, dialect }: Pick<Verbs['sweep']['in'], 'now' | 'dialect'>,
): Steps<Swept> {
  const isOver = (session: DueSession) => session.started_at + longest <= now;
  const isIdle = (session: DueSession) => session.last_access_at + idle <= now;
  const parts = [
    { part: sessions.filter(isOver), before: now + ENDLESS },
    { part: sessions.filter((session) => !isOver(session) && isIdle(session)), before: now - idle },
    { part: sessions.filter((session) => !isOver(session) && !isIdle(session)), before: now - idle },
  ].map(({ part, before }) => ({ ids: part.map(({ id }) => id), offline, before }));
  let removed = 0;
  for (const [index, part] of parts.entries()) {
    if (part.ids.length === 0) continue;
    const mayExpire = index < 2;
    if (dialect === 'postgres' || !mayExpire) yield* send('sweep.families', part);
    if (!mayExpire) continue;
    const gone = yield* run('sweep.sessions', { ...part, before: dialect === 'postgres' ? 0 : part.before });
    removed += gone;
    if (dialect === 'sqlite' && gone < part.ids.length) yield* send('sweep.families', part);
  }
  if (removed === sessions.length) return { removed, handled: removed };
  const values = {
    ids: sessions.map(({ id }) => id),
    offline,
    idle,
    longest: Math.min(longest, ENDLESS),
    now,
  };
  const later = yield* run('sweep.later', values);
  return { removed, handled: removed + later };
}
