import { get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/** Stores events. Skips events of realms that no longer exist. */
export function* appendEvents(input: Verbs['appendEvents']['in']): Steps<undefined> {
  const realms = new Map<string, boolean>();
  for (const row of input.rows) {
    const id = row.realm_id;
    if (!realms.has(id)) realms.set(id, (yield* get('realm.exists', { id })) !== undefined);
    if (realms.get(id) === true) yield* send('event.insert', row);
  }
}

/**
 * Removes the oldest events of a realm that are older than `before`, at most `limit`. Each statement leaves a
 * consistent state.
 *
 * The next call starts `from` the time `gone` of this one. While a backup or another long transaction runs, Postgres
 * keeps all removed rows in its indexes, so a search from the beginning would read a million of them for each slice.
 *
 * @returns the number of removed events, that of the events that are gone now, and the time before which none is left.
 *   Another store may have removed some of them
 */
export function* removeOldest({
  table,
  realm_id,
  from,
  before,
  limit,
}: Verbs['removeOldest']['in']): Steps<Verbs['removeOldest']['out']> {
  const next = yield* get(`${table}.after`, { realm_id, from, before, limit });
  if (next === undefined) {
    const removed = yield* run(`${table}.deleteOlder`, { realm_id, from, before });
    return { removed, handled: removed, more: false, gone: before };
  }
  const { time, seq } = next;
  const removed = yield* run(`${table}.deleteBefore`, { realm_id, from, time, seq });
  return { removed, handled: limit, more: true, gone: time };
}
