import { get, getEach, run, type Steps, send } from './steps.ts';
import type { Many, Verbs } from './verbs.ts';

/** Reports that a change removes more sessions of a user than one transaction removes. */
export function* findManySessions(user_id: string, offline: number): Steps<Many | undefined> {
  if ((yield* get('many.sessions', { user_id, offline })) === undefined) return undefined;
  return { outcome: 'many', of: 'account', id: user_id, offline };
}

/** The tables whose records may have more dependent records than one transaction removes. */
export type OwningTable = 'account' | 'client' | 'realm' | 'realm_group' | 'role';

/** Reports that more records depend on a record than one transaction removes. */
export function* findManyDependents(table: OwningTable, id: string): Steps<Many | undefined> {
  if (table === 'account') return yield* findManySessions(id, 1);
  const found = yield* firstOfMany(table, id);
  if (found.every((row) => row === undefined)) return undefined;
  return { outcome: 'many', of: table, id, offline: 1 };
}

function* firstOfMany(table: Exclude<OwningTable, 'account'>, id: string): Steps<readonly unknown[]> {
  const [ofClient, ofRealm] = [{ client_uuid: id }, { realm_id: id }];
  switch (table) {
    case 'client':
      return yield* getEach([
        ['many.families', ofClient],
        ['many.consents', ofClient],
        ['many.serviceAccountSessions', ofClient],
        ['many.usersOfClientRoles', ofClient],
      ]);
    case 'role':
      return [yield* get('many.usersOfRole', { id })];
    case 'realm_group':
      return [yield* get('many.members', { id })];
    case 'realm': {
      const found = yield* getEach([
        ['many.users', ofRealm],
        ['many.events', ofRealm],
        ['many.adminEvents', ofRealm],
        ['many.failures', ofRealm],
      ]);
      if (found.some((row) => row !== undefined)) return found;
      // This query reads the sessions of each user. So it runs only if the realm has few users.
      return [yield* get('many.sessionsOfRealm', ofRealm)];
    }
  }
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
