import type { Slice } from '../migrations/background.ts';
import { get, type Steps, send } from './steps.ts';

/** The name of the background migration that moves sessions to the tables of this version. */
export const SESSION_ROWS = 'session rows';

/** Moves the next sessions, with their token families, to the tables of this version. */
export function* moveNextSessions(position: string, limit: number): Steps<Slice> {
  const next = yield* get('unmoved.range', { after: position, limit });
  if (next?.first_id == null || next.last_id === null) {
    if ((yield* get('unmoved.any', {})) !== undefined) return { position: '', handled: 0, finished: false };
    yield* send('unmoved.truncate', {});
    return { position: '', handled: 0, finished: true };
  }
  yield* move(next.first_id, next.last_id);
  return { position: next.last_id, handled: next.rows, finished: false };
}

/** Moves sessions, online and offline, if an older version stored them and nobody has moved them yet. */
export function* moveSessions({ ids }: { ids: readonly string[] }): Steps<undefined> {
  for (const id of ids) yield* move(id, id);
}

/**
 * Moves a range of sessions. A session with its families is always in exactly one place, because the caller's
 * transaction both inserts and deletes them.
 */
function* move(first: string, last: string): Steps<void> {
  yield* send('unmoved.moveSessions', { first, last });
  yield* send('unmoved.moveFamilies', { first, last });
  yield* send('unmoved.delete', { first, last });
}
