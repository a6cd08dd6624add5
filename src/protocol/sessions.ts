import { randomId, uuid } from '../core/index.ts';
import type { User } from '../model/index.ts';
import type { GrantedScopes } from './claims/index.ts';
import type { FamilyRecord, GrantRequest } from './grants/grant.ts';

/** Characters that name a session: 18 random bytes in base64url. */
const SESSION_ID_BYTES = 18;

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
  const sessionId = randomId(ctx.random, SESSION_ID_BYTES);
  const session = {
    id: sessionId,
    offline: options.offline,
    realmId,
    userId: user.id,
    startedAt: now,
    lastAccessAt: now,
    ipAddress: request.remoteAddress,
    rememberMe: false,
    notes: options.notes,
  };
  const family = {
    id: uuid(ctx.random),
    sessionId,
    offline: options.offline,
    realmId,
    clientUuid: client.id,
    userId: user.id,
    currentHash: Buffer.alloc(0),
    parentUses: 0,
    scope: granted.all,
    startedAt: now,
    lastRefreshAt: now,
    notes: {},
  };
  return {
    record: { session, family },
    commit: (currentHash) => ctx.store.startSession(session, { ...family, currentHash }),
  };
}
