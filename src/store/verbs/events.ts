import type { Swept } from '../contract/index.ts';
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
 * @returns the number of removed events, and that of the events that are gone now. Another store may have removed some
 *   of them
 */
export function* removeOldest({ table, realm_id, before, limit }: Verbs['removeOldest']['in']): Steps<Swept> {
  const next = yield* get(`${table}.after`, { realm_id, before, limit });
  if (next === undefined) {
    const removed = yield* run(`${table}.deleteOlder`, { realm_id, before });
    return { removed, handled: removed, more: false };
  }
  const removed = yield* run(`${table}.deleteBefore`, { realm_id, time: next.time, seq: next.seq });
  return { removed, handled: limit, more: true };
}
