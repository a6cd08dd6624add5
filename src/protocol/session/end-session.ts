import type { UserSession } from '../../model/index.ts';
import type { SessionWithClients, Store } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';

/**
 * Ends a user session with every token of it, and tells its clients (Back-Channel Logout 1.0 §2.5). Answers it with
 * the clients that took part; undefined where it had ended before.
 */
export async function endSessionOf(
  ctx: Pick<ProtocolContext, 'store' | 'sessionEndings'>,
  session: UserSession,
): Promise<SessionWithClients | undefined> {
  const all = await ctx.store.listUserSessions(session.userId, session.offline);
  const known = all.find((one) => one.session.id === session.id);
  const tell =
    known === undefined
      ? undefined
      : await ctx.sessionEndings?.prepare(session.realmId, { sessions: [known] });
  const { ended } = await ctx.store.endSession(session.id, session.offline);
  if (!ended || known === undefined) return undefined;
  await tell?.();
  return known;
}

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
