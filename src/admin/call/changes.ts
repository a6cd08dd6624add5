import { uuid } from '../../core/index.ts';
import { type AdminEvent, recordKey } from '../../model/index.ts';
import type { Applied, Change, Conflict, EndedBefore } from '../../store/index.ts';
import { checkAdministrators } from '../access/administrators.ts';
import type { Json } from '../representation/json.ts';
import { COMPONENT_SECRETS } from '../representation/secrets.ts';
import type { RealmCall } from './context.ts';
import { type AdminRefusal, duplicateResource, notFound, StaleRecord } from './refusal.ts';

/** What an admin event records about a change, see docs/keycloak/admin-api.md#events-api. */
export interface Recorded {
  operation: AdminEvent['operationType'];
  resource: string;
  path: string;
  representation?: Json | readonly unknown[];
}

const SECRET_FIELDS: ReadonlySet<string> = new Set([
  ...['credentials', 'secret', 'value', 'secretData', 'registrationAccessToken', 'client.secret.rotated'],
  ...['password', 'authTokenClientSecret', 'clientSecret', 'secret.key', 'privateKey', 'codeSecret'],
  ...COMPONENT_SECRETS,
]);

/** Returns the admin event of a change, or nothing if the realm stores no admin events. */
export function adminEvent(call: RealmCall, recorded: Recorded): Change[] {
  const { realm } = call.configuration;
  if (!realm.settings.adminEventsEnabled) return [];
  const { caller, context } = call;
  const details = realm.settings.adminEventsDetailsEnabled && recorded.representation !== undefined;
  return [
    {
      do: 'record',
      adminEvent: {
        id: uuid(context.random),
        time: context.clock.now(),
        realmId: realm.id,
        authRealmId: caller.realmId,
        authClientId: caller.clientUuid,
        authUserId: caller.userId,
        authIpAddress: caller.ipAddress,
        operationType: recorded.operation,
        resourceType: recorded.resource,
        resourcePath: recorded.path,
        ...(details ? { representation: JSON.stringify(recorded.representation, withoutSecrets) } : {}),
      },
    },
  ];
}

function withoutSecrets(key: string, value: unknown): unknown {
  return SECRET_FIELDS.has(key) ? undefined : value;
}

/**
 * Stores the changes and their admin event in one transaction.
 *
 * @param refuse returns the refusal for a name or id that exists already. Default: Keycloak's "Duplicate resource
 *   error"
 * @throws AdminRefusal, StaleRecord
 */
export async function applyChanges(
  call: RealmCall,
  changes: readonly Change[],
  recorded?: Recorded,
  refuse: (taken: Conflict) => AdminRefusal = duplicateResource,
): Promise<void> {
  const events = recorded === undefined ? [] : adminEvent(call, recorded);
  await checkAdministrators(call, changes);
  checkTurns(call.turns, changes);
  const notifications = await prepareEndings(call, changes);
  const applied = await applyAndNotify(call, [...changes, ...events], notifications);
  if (applied.outcome === 'conflict') throw refuse(applied);
  if (applied.outcome === 'stale') throw new StaleRecord(applied);
  // Another call removed the record after this call read it.
  if (applied.outcome === 'missing') throw notFound();
}

/**
 * Notifies the clients also if the changes are not applied but the sessions have ended, because a repeated call no
 * longer finds them.
 */
async function applyAndNotify(
  { context }: RealmCall,
  changes: readonly Change[],
  notifications: readonly Notification[],
): Promise<Applied> {
  let ended: readonly string[] = [];
  try {
    const applied = await context.store.apply(changes);
    if (applied.outcome === 'applied') ended = notifications.map(({ userId }) => userId);
    else ended = applied.endedSessionsOf ?? [];
    return applied;
  } catch (error: unknown) {
    ended = (error as EndedBefore).endedSessionsOf ?? [];
    throw error;
  } finally {
    for (const { userId, notify } of notifications) if (ended.includes(userId)) await notify();
  }
}

/** Notifies the clients of a user whose sessions have ended. */
interface Notification {
  userId: string;
  notify: () => Promise<void>;
}

/** Prepares the notification of clients whose sessions the change ends (Back-Channel Logout 1.0 §2.5). */
async function prepareEndings(
  { context, configuration }: RealmCall,
  changes: readonly Change[],
): Promise<readonly Notification[]> {
  const { sessionEndings } = context;
  if (sessionEndings === undefined) return [];
  const endings = changes.flatMap((change) => {
    if (change.do === 'endSessions') return [{ userId: change.userId, offlineToo: change.offlineToo }];
    return change.do === 'remove' && change.what === 'user' ? [{ userId: change.id, offlineToo: true }] : [];
  });
  return Promise.all(
    endings.map(async (ending) => ({
      userId: ending.userId,
      notify: await sessionEndings.prepare(configuration.realm.id, ending),
    })),
  );
}

/**
 * Checks that the call has locked every record that it replaces or changes in part. Without the lock, the store would
 * reject the slower of two parallel calls. If a route forgets to name a record, this check reports the bug at the first
 * call.
 *
 * @param turns the keys of the locked records. If absent, nothing is checked.
 * @throws Error
 */
function checkTurns(turns: ReadonlySet<string> | undefined, changes: readonly Change[]): void {
  if (turns === undefined) return;
  for (const change of changes) {
    const key = keyOf(change);
    if (key !== undefined && !turns.has(key))
      throw new Error(`the call changes ${key}, which it has not locked`);
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
