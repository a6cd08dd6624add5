import { uuid } from '../core/index.ts';
import type { User } from '../model/index.ts';
import type { GrantedScopes } from './claims/index.ts';
import type { FamilyRecord, GrantRequest } from './grants/grant.ts';
import { newFamily, newUserSession } from './new-session.ts';
import { Refusal } from './refusal.ts';

/**
 * A new user session with the first family of the client in it, and how to store both. Nothing is stored yet;
 * the hash of the first refresh token is known only when it is made.
 */
export function startRecord(
  { ctx, client, configuration, request, now }: GrantRequest,
  user: User,
  granted: GrantedScopes,
  options: { offline: boolean; notes: Readonly<Record<string, string>> },
): { record: FamilyRecord; commit: (refreshTokenHash: Buffer) => Promise<void> } {
  const realmId = configuration.realm.id;
  const session = newUserSession(ctx.random, now, {
    offline: options.offline,
    realmId,
    userId: user.id,
    ipAddress: request.remoteAddress,
    rememberMe: false,
    notes: options.notes,
  });
  const family = newFamily(now, {
    id: uuid(ctx.random),
    sessionId: session.id,
    offline: options.offline,
    realmId,
    clientUuid: client.id,
    userId: user.id,
    scope: granted.all,
    notes: {},
  });
  return {
    record: { session, family },
    commit: async (currentHash) => {
      try {
        await ctx.store.startSession(session, { ...family, currentHash });
      } catch (error) {
        throw (await findGone({ ctx, client, configuration }, user)) ?? error;
      }
    },
  };
}

/** A session cannot be stored for who was removed since the request came: that is no fault of the store. */
async function findGone(
  { ctx, client, configuration }: Pick<GrantRequest, 'ctx' | 'client' | 'configuration'>,
  user: User,
): Promise<Refusal | undefined> {
  const realmId = configuration.realm.id;
  if ((await ctx.store.findClientByUuid(realmId, client.id)) === undefined)
    return new Refusal('client-unknown');
  if ((await ctx.store.findUser(realmId, user.id)) === undefined)
    return new Refusal('user-credentials-wrong', { eventError: 'user_not_found' });
  return undefined;
}
