import type { Seconds } from '../../core/index.ts';
import type {
  ClientUuid,
  FamilyId,
  RealmId,
  SessionId,
  TokenFamily,
  TokenHash,
  UserSession,
} from '../../model/index.ts';
import type { Range } from './users.ts';

/** One refresh and the rules of rotation that apply to it (docs/keycloak/tokens.md#rotation). */
export interface Rotation {
  sessionId: SessionId;
  familyId: FamilyId;
  /** SHA-256 of the token that the client presented. */
  presentedHash: TokenHash;
  /** SHA-256 of the token that the client receives. */
  nextHash: TokenHash;
  /** Unix time in seconds of the refresh. */
  now: Seconds;
  /** If false, any token of the family may be used again. */
  singleUse: boolean;
  /** How often a token may be used again if `singleUse` is true. With 0, every token can be used only once. */
  maxReuse: number;
  /**
   * The grace period (docs/keycloak/tokens.md#grace). Absent if the realm and the client have none.
   *
   * A token that is presented again within `seconds` of its use, while the token that replaced it is unused, is not
   * reuse. The client receives the same next token again: the store keeps it as `successor`, sealed by the caller.
   */
  grace?: { seconds: Seconds; successor: Buffer };
}

/**
 * The result of a refresh:
 *
 * - `rotated`: This call rotated the token, and `nextHash` is stored.
 * - `repeated`: The token was rotated before, but is presented again within the grace period. Nothing was rotated, and
 *   `successor` contains the sealed next token.
 * - `reused`: The token was used before. The same transaction has ended the whole user session, whose clients are
 *   `clientUuids`. The reason is `exceeded` if the token is the predecessor of the newest one, otherwise `stale`.
 * - `gone`: The token family was revoked, has expired or never existed.
 */
export type RotationResult =
  | { outcome: 'rotated' }
  | { outcome: 'repeated'; successor: Buffer }
  | { outcome: 'reused'; reason: 'stale' | 'exceeded'; clientUuids: readonly ClientUuid[] }
  | { outcome: 'gone' };

/** A token family with its user session. `lastAccessAt` of the session is the latest use of any of its token families. */
export interface FamilyInSession {
  family: TokenFamily;
  session: UserSession;
}

/** A user session with the clients that have token families in it. */
export interface SessionWithClients {
  session: UserSession;
  username: string;
  clientUuids: readonly ClientUuid[];
}

/** Filters of `userSessionPages`. */
export interface UserSessionQuery {
  userId: string;
  /** A read of an administrator delays no login, but has to wait for those of other administrators. */
  caller: 'administrator' | 'user';
  offline: boolean;
  /** Only for administrators. */
  clientUuid?: ClientUuid | undefined;
}

/**
 * Stores user sessions, their token families and claims. A claim marks a value that can be used only once. Nothing here
 * is cached.
 */
export interface SessionStore {
  /** Creates the token family, and the session if it does not exist, in one transaction. */
  startSession(session: UserSession, family: TokenFamily): Promise<void>;
  findSession(id: SessionId, offline: boolean): Promise<UserSession | undefined>;
  findFamily(sessionId: SessionId, id: FamilyId): Promise<FamilyInSession | undefined>;
  /**
   * Reports whether the client still has a token family in the session. With `startedBy`, the time of issue of an
   * access token (Unix time in seconds), ignores families that started later, because the token cannot belong to them.
   */
  hasFamily(
    sessionId: SessionId,
    offline: boolean,
    clientUuid: ClientUuid,
    startedBy?: Seconds,
  ): Promise<boolean>;
  rotateRefreshToken(rotation: Rotation): Promise<RotationResult>;
  /** Revokes one token family. The user session continues. `removed` is false if the family does not exist. */
  removeFamily(sessionId: SessionId, id: FamilyId): Promise<{ removed: boolean }>;
  /** Ends one user session with all its token families. `ended` is false if the session does not exist. */
  endSession(id: SessionId, offline: boolean): Promise<{ ended: boolean }>;
  /** Ends all sessions of a user, unfinished logins and unexchanged codes. */
  endUserSessions(userId: string, options: { offlineToo: boolean }): Promise<{ ended: number }>;
  /** Ends all online sessions of a realm. */
  endRealmSessions(realmId: RealmId): Promise<{ ended: number }>;
  findListedSession(id: SessionId, offline: boolean): Promise<SessionWithClients | undefined>;
  /** Sorted by id, as in Keycloak. A user can have very many sessions: see `userSessionPages`. */
  listUserSessions(userId: string, offline: boolean): Promise<readonly SessionWithClients[]>;
  /**
   * Lists the sessions of a user by id, page by page as in `userPages`. With `clientUuid`, lists only those in which
   * the client has a token family.
   */
  userSessionPages(query: UserSessionQuery & Partial<Range>): AsyncIterable<readonly SessionWithClients[]>;
  /** Returns the clients that have token families in any session of the user. */
  listClientsOfUser(userId: string, offline: boolean): Promise<readonly ClientUuid[]>;
  listClientSessions(query: {
    clientUuid: ClientUuid;
    offline: boolean;
    first: number;
    max: number;
  }): Promise<readonly SessionWithClients[]>;
  /** Lists the sessions of a client by id, page by page as in `userPages`. */
  clientSessionPages(
    query: { clientUuid: ClientUuid; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]>;
  /** Counts the sessions in which the client has token families. */
  countSessionsOfClient(clientUuid: ClientUuid): Promise<{ online: number; offline: number }>;
  /** Does the same for each client of a realm. Lists only clients with sessions. */
  countClientSessions(
    realmId: RealmId,
  ): Promise<readonly { clientUuid: ClientUuid; online: number; offline: number }[]>;
  /** Revokes the access token with this `jti`. The store remembers it until `expiresAt` (Unix time in seconds). */
  revokeAccessToken(jti: string, expiresAt: Seconds): Promise<void>;
  isAccessTokenRevoked(jti: string): Promise<boolean>;
  /**
   * Claims a key until `expiresAt` (Unix time in seconds). Returns true to the first caller, and false to all others.
   */
  claimOnce(key: string, expiresAt: Seconds): Promise<boolean>;
  /** Reports whether the key is claimed and the claim has not expired. */
  isClaimed(key: string): Promise<boolean>;
}
