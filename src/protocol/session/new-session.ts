import { type Random, randomId, uuid } from '../../core/index.ts';
import type { TokenFamily, User, UserSession } from '../../model/index.ts';
import type { GrantedScopes } from '../claims/index.ts';
import type { FamilyRecord, GrantRequest } from '../grants/index.ts';
import { Refusal } from '../refusal.ts';

/**
 * Builds a new user session with the client's first token family, and the function that stores both. That function gets
 * the hash of the refresh token, which does not exist before the token is signed.
 */
export function startRecord(
  { ctx, client, configuration, request, now }: GrantRequest,
  user: User,
  granted: GrantedScopes,
  options: { offline: boolean; notes: Readonly<Record<string, string>> },
): { record: FamilyRecord; commit: (refreshTokenHash: Buffer) => Promise<undefined> } {
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
    commit: async (currentHash): Promise<undefined> => {
      try {
        await ctx.store.startSession(session, { ...family, currentHash });
      } catch (error) {
        throw (await findGone({ ctx, client, configuration }, user)) ?? error;
      }
    },
  };
}

/**
 * Returns a refusal if the client or the user was deleted during the request. The session then cannot be stored, but
 * this is not a fault of the store.
 */
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

/** Number of random bytes in a session id, which has 24 characters in base64url. */
const SESSION_ID_BYTES = 18;

/** Builds a user session that begins now, with an id that cannot be guessed. Stores nothing. */
export function newUserSession(
  random: Random,
  now: number,
  about: Omit<UserSession, 'id' | 'startedAt' | 'lastAccessAt'>,
): UserSession {
  return { id: randomId(random, SESSION_ID_BYTES), startedAt: now, lastAccessAt: now, ...about };
}

/** The `currentHash` of a token family that has no refresh token yet. No token has this hash. */
const NO_REFRESH_TOKEN = Buffer.alloc(32);

/** Builds a new token family of a client, which has no refresh token yet. Stores nothing. */
export function newFamily(
  now: number,
  about: Omit<TokenFamily, 'currentHash' | 'parentUses' | 'startedAt' | 'lastRefreshAt'>,
): TokenFamily {
  return { currentHash: NO_REFRESH_TOKEN, parentUses: 0, startedAt: now, lastRefreshAt: now, ...about };
}
