import type { Seconds } from '../core/index.ts';
import type { ClientUuid, FamilyId, RealmId, SessionId, TokenHash } from './ids.ts';
/** A user session: one login of one user. It is active as long as its row exists. */
export interface UserSession {
  id: SessionId;
  /** An offline session outlives the online one with the same id. The key is (id, offline). */
  offline: boolean;
  realmId: RealmId;
  userId: string;
  /** Unix time in seconds of the login. */
  startedAt: Seconds;
  /** Unix time in seconds of the last use: a login, or a refresh of one of its families. */
  lastAccessAt: Seconds;
  ipAddress: string;
  rememberMe: boolean;
  /** Facts of the login: `auth_time`, `acr`, `authMethod` and others. */
  notes: Readonly<Record<string, string>>;
}

/**
 * A token family: all refresh tokens that descend from one login of one client (RFC 9700 §4.14.2). It is one row. The
 * store has no tokens, only the SHA-256 hashes of the last two.
 */
export interface TokenFamily {
  /** The claim `reuse_id`. */
  id: FamilyId;
  sessionId: SessionId;
  offline: boolean;
  realmId: RealmId;
  clientUuid: ClientUuid;
  userId: string;
  /** SHA-256 of the newest refresh token. */
  currentHash: TokenHash;
  /** SHA-256 of the token that the newest one replaced. Absent before the first refresh. */
  parentHash?: TokenHash;
  /** Number of uses of the parent. */
  parentUses: number;
  /** All granted scopes, hidden ones included, separated by spaces. */
  scope: string;
  /** Unix time in seconds at which the family began (start of the client session). */
  startedAt: Seconds;
  /** Unix time in seconds of the last refresh, or of the start. */
  lastRefreshAt: Seconds;
  /** `nonce` and other facts, for later tokens. */
  notes: Readonly<Record<string, string>>;
}

/**
 * Notifies clients that their user sessions have ended (Back-Channel Logout 1.0 §2.5). The caller prepares the
 * notification while the store still knows the clients, ends the sessions, then sends it.
 */
export interface SessionEndings {
  /**
   * Finds the clients to notify of the end of these sessions, and returns the function that notifies them. The function
   * resolves when it has reached all clients, or after a short time. It retries in the background, and never throws.
   */
  prepare(realmId: RealmId, ending: EndingSessions): Promise<() => Promise<void>>;
}

/**
 * Sessions of one user with the clients that have tokens for them, or all sessions of a user. With `clientUuid`: the
 * part of one client in the user's online sessions, after its consent was withdrawn.
 */
export type EndingSessions =
  | {
      sessions: readonly {
        session: Pick<UserSession, 'id' | 'userId' | 'offline'>;
        clientUuids: readonly ClientUuid[];
      }[];
    }
  | { userId: string; offlineToo: boolean }
  | { userId: string; clientUuid: ClientUuid };
