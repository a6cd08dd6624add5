import { mapInSlices } from '../../core/index.ts';
import { isSessionAlive } from '../../model/index.ts';
import type { Range, SessionWithClients } from '../../store/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { type Pages, shown, within } from '../call/pages.ts';
import { notFound } from '../call/refusal.ts';
import { getClient } from '../client/clients.ts';
import type { Json } from '../representation/json.ts';
import { getUser } from './get-user.ts';

async function represent(call: RealmCall, found: SessionWithClients): Promise<Json> {
  const { session, username, clientUuids } = found;
  const clients: [string, string][] = [];
  for (const uuid of clientUuids) {
    const client = await call.context.store.findClientByUuid(session.realmId, uuid);
    if (client !== undefined) clients.push([uuid, client.clientId]);
  }
  return {
    id: session.id,
    username,
    userId: session.userId,
    ipAddress: session.ipAddress,
    start: session.startedAt * 1000,
    lastAccess: session.lastAccessAt * 1000,
    rememberMe: session.rememberMe,
    clients: Object.fromEntries(clients),
    transientUser: false,
  };
}

async function listed(call: RealmCall, found: readonly SessionWithClients[]): Promise<Json[]> {
  const { settings } = call.configuration.realm;
  const now = Math.floor(call.context.clock.now() / 1000);
  const sessions: Json[] = [];
  for (const one of found)
    if (isSessionAlive(settings, one.session, now)) sessions.push(await represent(call, one));
  return sessions;
}

/**
 * Lists the online sessions of a user, or the offline sessions of a user with one client.
 *
 * @throws AdminRefusal 404
 */
export async function listUserSessions(
  call: RealmCall,
  userId: string,
  { offlineOf, ...range }: { offlineOf?: string } & Range,
): Promise<Pages> {
  await getUser(call, userId);
  const found = call.context.store.userSessionPages({
    userId,
    caller: 'administrator',
    offline: offlineOf !== undefined,
    clientUuid: offlineOf,
  });
  return within(
    shown(found, (page) => listed(call, page)),
    range,
  );
}

/** @throws AdminRefusal 404 */
export async function listClientSessions(
  call: RealmCall,
  clientUuid: string,
  query: { offline: boolean } & Range,
): Promise<Pages> {
  await getClient(call, clientUuid);
  const found = call.context.store.clientSessionPages({ clientUuid, ...query });
  return shown(found, (page) => listed(call, page));
}

/** Counts the sessions of a client. @throws AdminRefusal 404 */
export async function countClientSessions(
  call: RealmCall,
  clientUuid: string,
  offline: boolean,
): Promise<Json> {
  await getClient(call, clientUuid);
  const counts = await call.context.store.countSessionsOfClient(clientUuid);
  return { count: offline ? counts.offline : counts.online };
}

/** Counts sessions by client. The numbers are strings, see docs/keycloak/admin-api.md#session-statistics. */
export async function sessionStats(call: RealmCall): Promise<Json[]> {
  const { store } = call.context;
  const { realm } = call.configuration;
  const counts = await store.countClientSessions(realm.id);
  const ids = counts.map(({ clientUuid }) => clientUuid);
  const clients = new Map((await store.findClients(realm.id, ids)).map((client) => [client.id, client]));
  return mapInSlices(
    counts.filter(({ clientUuid, online, offline }) => clients.has(clientUuid) && online + offline > 0),
    ({ clientUuid, online, offline }) => ({
      id: clientUuid,
      clientId: clients.get(clientUuid)!.clientId,
      active: String(online),
      offline: String(offline),
    }),
  );
}

/** Ends the online sessions of a user, and invalidates all tokens that were issued before. */
export async function logoutUser(call: RealmCall, userId: string): Promise<void> {
  const user = await getUser(call, userId);
  const notBefore = Math.floor(call.context.clock.now() / 1000);
  await applyChanges(
    call,
    [
      { do: 'put', user: { ...user, notBefore } },
      { do: 'endSessions', userId, offlineToo: false },
    ],
    { operation: 'ACTION', resource: 'USER', path: `users/${userId}/logout` },
  );
}

/** Ends one session. @throws AdminRefusal 404, with Keycloak's misspelled message */
export async function deleteSession(call: RealmCall, id: string, offline: boolean): Promise<void> {
  const { store } = call.context;
  const found = await store.findListedSession(id, offline);
  const { realm } = call.configuration;
  if (found?.session.realmId !== realm.id) throw notFound('Sesssion not found');
  const notify = await call.context.sessionEndings?.prepare(realm.id, { sessions: [found] });
  const { ended } = await store.endSession(id, offline);
  // Another call has ended the session meanwhile, and notifies its clients.
  if (!ended) throw notFound('Sesssion not found');
  await notify?.();
  await applyChanges(call, [], { operation: 'DELETE', resource: 'USER_SESSION', path: `sessions/${id}` });
}
