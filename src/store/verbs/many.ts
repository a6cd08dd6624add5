import { Refused } from './apply.ts';
import { get, getEach, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/**
 * Checks that a change removes so few sessions that it can remove them in its own transaction.
 *
 * @throws Refused
 */
export function* checkFewSessions(user_id: string, offline: number): Steps<void> {
  if ((yield* get('many.sessions', { user_id, offline })) !== undefined)
    throw new Refused({ outcome: 'many', of: 'account', id: user_id, offline });
}

/**
 * Checks that so few records depend on a record that one transaction can remove all of them.
 *
 * @throws Refused
 */
export function* checkFewDependents(table: 'account' | 'client' | 'realm', id: string): Steps<void> {
  if (table === 'account') return yield* checkFewSessions(id, 1);
  const of = { realm_id: id };
  const found =
    table === 'client'
      ? [yield* get('many.families', { client_uuid: id })]
      : yield* getEach([
          ['many.users', of],
          ['many.events', of],
          ['many.adminEvents', of],
        ]);
  const isMany = (row: unknown) => row !== undefined;
  // The last query reads the sessions of each user. So it runs only if the realm has few users.
  if (found.some(isMany) || (table === 'realm' && isMany(yield* get('many.sessionsOfRealm', of))))
    throw new Refused({ outcome: 'many', of: table, id, offline: 1 });
}

/**
 * Removes the first token families of a client, about `limit`, and stores their last use in their sessions.
 *
 * @returns the number of removed families, or 0 if the client has no more than `limit`
 */
export function* removeFamiliesOfClient({
  client_uuid,
  limit,
}: Verbs['removeFamiliesOfClient']['in']): Steps<number> {
  const next = yield* get('slice.families', { client_uuid, limit });
  if (next === undefined) return 0;
  yield* send('slice.touchSessions', { client_uuid, ...next });
  return yield* run('slice.deleteFamilies', { client_uuid, ...next });
}
