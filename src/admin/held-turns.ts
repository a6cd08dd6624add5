import { recordKey } from '../model/index.ts';
import type { Change } from '../store/index.ts';

/**
 * Whoever replaces a record, or gives and takes parts of it, has its turn since it was read: the store would refuse
 * the loser of a race without it. That a row forgot to name a record is a bug, and is one the first time the row runs.
 *
 * @param turns the turns that are held; absent: nobody says
 * @throws Error
 */
export function checkTurns(turns: ReadonlySet<string> | undefined, changes: readonly Change[]): void {
  if (turns === undefined) return;
  for (const change of changes) {
    const key = keyOf(change);
    if (key !== undefined && !turns.has(key)) throw new Error(`${key} is changed outside of its turn`);
  }
}

function keyOf(change: Change): string | undefined {
  switch (change.do) {
    case 'put':
      if ('realm' in change) return recordKey('realm', change.realm.id);
      if ('client' in change) return recordKey('client', change.client.id);
      if ('clientScope' in change) return recordKey('scope', change.clientScope.id);
      if ('role' in change) return recordKey('role', change.role.id);
      if ('group' in change) return recordKey('group', change.group.id);
      if ('component' in change) return recordKey('component', change.component.id);
      if ('credential' in change) return recordKey('user', change.credential.userId);
      return recordKey('user', change.user.id);
    case 'assign':
    case 'unassign':
    case 'join':
    case 'leave':
      return recordKey('user', change.userId);
    default:
      return undefined;
  }
}
