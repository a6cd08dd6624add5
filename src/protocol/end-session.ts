import type { UserSession } from '../model/index.ts';
import type { SessionWithClients } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';

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
