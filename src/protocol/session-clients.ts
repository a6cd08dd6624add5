import type { UserSession } from '../model/index.ts';
import type { Store } from '../store/index.ts';

/** A session, and the clients that take part in it. */
interface ClientsOfSession {
  session: Pick<UserSession, 'id' | 'userId' | 'offline'>;
  clientUuids: readonly string[];
}

/**
 * The same sessions with those clients too that took part in the login and have offline tokens of it alone. In Keycloak
 * they stay in the online session, and so are told of its end as all others are; their tokens live on.
 *
 * @param sessions of one user
 */
export async function withOfflineClients<T extends ClientsOfSession>(
  store: Pick<Store, 'listUserSessions'>,
  sessions: readonly T[],
): Promise<readonly T[]> {
  const online = sessions.find(({ session }) => !session.offline);
  if (online === undefined) return sessions;
  const offline = await store.listUserSessions(online.session.userId, true);
  const clientsOf = new Map(offline.map(({ session, clientUuids }) => [session.id, clientUuids]));
  return sessions.map((one) => {
    const more = one.session.offline ? undefined : clientsOf.get(one.session.id);
    return more === undefined ? one : { ...one, clientUuids: [...new Set([...one.clientUuids, ...more])] };
  });
}
