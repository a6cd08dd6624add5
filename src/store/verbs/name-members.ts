import type { Slice } from '../migrations/background.ts';
import { get, type Steps, send } from './steps.ts';

/** The name of the background migration that adds the usernames of members. */
export const NAME_MEMBERS = 'usernames of members';

/**
 * Adds the usernames to the next links, first to those of roles, then to those of groups.
 *
 * @param position the table and the last user of the previous slice
 */
export function* nameNextMembers(position: string, max: number): Steps<Slice> {
  const [, table, after_id = ''] = /^(role|group) (.*)$/s.exec(position) ?? [];
  if (table === 'group') {
    const next = yield* get('user_group.unnamed', { after_id, max });
    if (next?.last_id == null) return { position, handled: 0, finished: true };
    yield* send('user_group.name', { after_id, last_id: next.last_id });
    return { position: `group ${next.last_id}`, handled: next.links, finished: false };
  }
  const next = yield* get('user_role.unnamed', { after_id, max });
  if (next?.last_id == null) return { position: 'group ', handled: 0, finished: false };
  yield* send('user_role.name', { after_id, last_id: next.last_id });
  return { position: `role ${next.last_id}`, handled: next.links, finished: false };
}
