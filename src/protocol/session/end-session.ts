import type { UserSession } from '../../model/index.ts';
import type { SessionWithClients, Store } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';

/**
 * Ends a user session with all its tokens, and notifies its clients (Back-Channel Logout 1.0 §2.5). Returns the session
 * with its clients, or undefined if it had already ended.
 */
export async function endSessionOf(
  ctx: Pick<ProtocolContext, 'store' | 'sessionEndings'>,
  session: UserSession,
): Promise<SessionWithClients | undefined> {
  const known = await ctx.store.findListedSession(session.id, session.offline);
  const notify =
    known === undefined
      ? undefined
      : await ctx.sessionEndings?.prepare(session.realmId, { sessions: [known] });
  const { ended } = await ctx.store.endSession(session.id, session.offline);
  if (!ended || known === undefined) return undefined;
  await notify?.();
  return known;
}

/** A session, and the clients that take part in it. */
interface ClientsOfSession {
  session: Pick<UserSession, 'id' | 'userId' | 'offline'>;
  clientUuids: readonly string[];
}

/** Maximum number of sessions whose offline clients are read one by one. For more, all are read at once. */
const FEW = 200;

/**
 * Adds to each session those clients that have only offline tokens of its login. In Keycloak these clients remain in
 * the online session, so they are notified of its end like the other clients. Their tokens remain valid.
 *
 * @param sessions of one user
 */
export async function withOfflineClients<T extends ClientsOfSession>(
  store: Pick<Store, 'findListedSession' | 'listUserSessions'>,
  sessions: readonly T[],
): Promise<readonly T[]> {
  const online = sessions.filter(({ session }) => !session.offline);
  const [one] = online;
  if (one === undefined) return sessions;
  const offline =
    online.length <= FEW
      ? await Promise.all(online.map(({ session }) => store.findListedSession(session.id, true)))
      : await store.listUserSessions(one.session.userId, true);
  const clientsOf = new Map(
    offline.flatMap((found) => (found === undefined ? [] : [[found.session.id, found.clientUuids]])),
  );
  return sessions.map((one) => {
    const more = one.session.offline ? undefined : clientsOf.get(one.session.id);
    return more === undefined ? one : { ...one, clientUuids: [...new Set([...one.clientUuids, ...more])] };
  });
}
