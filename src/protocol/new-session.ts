import { type Random, randomId } from '../core/index.ts';
import type { TokenFamily, UserSession } from '../model/index.ts';

/** Random bytes of a session's name; in base64url 24 characters (facts §3.2, [26.5]). */
const SESSION_ID_BYTES = 18;

/** A user session that begins now, under a name that nobody can guess. Nothing is stored yet. */
export function newUserSession(
  random: Random,
  now: number,
  about: Omit<UserSession, 'id' | 'startedAt' | 'lastAccessAt'>,
): UserSession {
  return { id: randomId(random, SESSION_ID_BYTES), startedAt: now, lastAccessAt: now, ...about };
}

/** `currentHash` until there is a refresh token: no token's hash is ever equal to it. */
const NO_REFRESH_TOKEN = Buffer.alloc(32);

/** The family that a client begins in a session now, before its refresh token is made. Nothing is stored yet. */
export function newFamily(
  now: number,
  about: Omit<TokenFamily, 'currentHash' | 'parentUses' | 'startedAt' | 'lastRefreshAt'>,
): TokenFamily {
  return { currentHash: NO_REFRESH_TOKEN, parentUses: 0, startedAt: now, lastRefreshAt: now, ...about };
}
