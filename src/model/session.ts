import type { Seconds } from '../core/index.ts';
import type { ClientUuid, FamilyId, RealmId, SessionId, TokenHash } from './ids.ts';
/** A user session: the login of a user in a realm. */
export interface UserSession {
  id: SessionId;
  /**
   * True for an offline session, which outlives the online session with the same id. The key of a session is (id,
   * offline).
   */
  offline: boolean;
  realmId: RealmId;
  userId: string;
  /** Unix time in seconds of the login. */
  startedAt: Seconds;
  /** Unix time in seconds of the last use: a login, or a refresh of one of its families. */
  lastAccessAt: Seconds;
  ipAddress: string;
  rememberMe: boolean;
  /** Data of the login: `auth_time`, `acr`, `authMethod` and others. */
  notes: Readonly<Record<string, string>>;
}

/**
 * A token family: all refresh tokens that descend from one login of one client (RFC 9700 §4.14.2). The store does not
 * contain the tokens, only the SHA-256 hashes of the last two.
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
  /** How often the parent has been used. */
  parentUses: number;
  /** All granted scopes, including hidden ones, separated by spaces. */
  scope: string;
  /** Unix time in seconds at which the token family (and so the client session) began. */
  startedAt: Seconds;
  /** Unix time in seconds of the last refresh, or of the start. */
  lastRefreshAt: Seconds;
  /** `nonce` and other data for later tokens. */
  notes: Readonly<Record<string, string>>;
}

/**
 * Notifies clients that their user sessions have ended (Back-Channel Logout 1.0 §2.5). The caller prepares the
 * notification while the store still knows the clients, ends the sessions, and then sends it.
 */
export interface SessionEndings {
  /**
   * Finds the clients of these sessions, and returns a function that notifies them. That function resolves when it has
   * reached all clients, or after a short time at the latest, and then retries in the background. It never throws.
   */
  prepare(realmId: RealmId, ending: EndingSessions): Promise<() => Promise<void>>;
}

/**
 * The sessions that end: either a list of sessions with their clients, or all sessions of a user. With `clientUuid`,
 * only this client leaves the user's online sessions, because the user has withdrawn the consent.
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
