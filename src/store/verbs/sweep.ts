import type { RowOf } from '../queries/compiled/types.ts';
import { ENDLESS, type Lifetimes } from '../records/session-lifetimes.ts';
import { all, run, runEach, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

const HOUR = 3600;
/** Time in seconds for which the store remembers an expired code. */
export const CODE_MARK = HOUR;
/** The part of a slice that each kind of records other than sessions gets before the sessions. */
const SHARE = 0.1;

type DueSession = RowOf<'sweep.due'>;

/**
 * Removes expired records, and handles at most `limit` records. No backlog of one kind delays the others: each kind has a
 * share of the slice, and what the sessions leave is for those that need more than their share. A session is removed only
 * if no setting of its realm or of a client could still permit its use. Otherwise it is checked again in the hour after
 * its latest possible end.
 * Every statement handles all sessions of the slice.
 */
export function* sweep(input: Verbs['sweep']['in']): Steps<Verbs['sweep']['out']> {
  const { now, limit } = input;
  const share = Math.floor(limit * SHARE);
  const before = now - CODE_MARK;
  const rows = yield* runEach([
    ['sweep.authentications', { now, limit: share }],
    ['sweep.codes', { before, limit: share }],
    ['sweep.claims', { now, limit: share }],
    ['sweep.revoked', { now, limit: share }],
  ]);
  const others = rows.reduce((sum, one) => sum + one, 0);
  const sessions = yield* sweepSessions({ ...input, limit: limit - others });
  let left = limit - others - sessions.due;
  let more = sessions.due >= limit - others;
  let further = 0;
  const expired = ['sweep.authentications', 'sweep.codes', 'sweep.claims', 'sweep.revoked'] as const;
  for (const [index, query] of expired.entries()) {
    if (rows[index]! < share) continue;
    const count = left > 0 ? yield* run(query, { now, before, limit: left }) : 0;
    more ||= count === left;
    left -= count;
    further += count;
  }
  return {
    removed: others + sessions.removed + further,
    handled: others + sessions.handled + further,
    more,
    unknown: sessions.unknown,
  };
}

/** The result of a part of a slice. `handled` includes the removed records. */
interface Part {
  removed: number;
  handled: number;
}

/** Sorts the due sessions by their lifetimes, and handles those with the same lifetimes together. */
function* sweepSessions({
  now,
  limit,
  lifetimes,
  dialect,
}: Verbs['sweep']['in']): Steps<Part & { due: number; unknown: string[] }> {
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
  return { ...sum, due: due.length, unknown: [...unknown] };
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
): Steps<Part> {
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
