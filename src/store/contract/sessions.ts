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
  familyId: FamilyId;
  /** SHA-256 of the token that the client presented. */
  presentedHash: TokenHash;
  /** SHA-256 of the token that the client receives. */
  nextHash: TokenHash;
  /** Unix time in seconds of the refresh. */
  now: Seconds;
  /** If false, any token of the family may be used again. */
  singleUse: boolean;
  /** How often one token may be used again if `singleUse` is true. 0 permits no further use. */
  maxReuse: number;
}

/**
 * `rotated`: this call rotated the token, and `nextHash` is stored. `reused`: the token was used before. The same
 * transaction has ended the whole user session; `clientUuids` names the clients in it. The reason is `exceeded` if the
 * token is the parent of the newest token, otherwise `stale`. `gone`: the family is revoked, has ended or never
 * existed.
 */
export type RotationResult =
  | { outcome: 'rotated' }
  | { outcome: 'reused'; reason: 'stale' | 'exceeded'; clientUuids: readonly ClientUuid[] }
  | { outcome: 'gone' };

/** A family with its session. The session's last access is the latest use of any of its families. */
export interface FamilyInSession {
  family: TokenFamily;
  session: UserSession;
}

/** A user session with the clients that have families in it. */
export interface SessionWithClients {
  session: UserSession;
  username: string;
  clientUuids: readonly ClientUuid[];
}

/** User sessions and their token families, and claims of what may be used only once. None of them is cached. */
export interface SessionStore {
  /** In one transaction, creates the family, and the session if it does not exist. */
  startSession(session: UserSession, family: TokenFamily): Promise<void>;
  findSession(id: SessionId, offline: boolean): Promise<UserSession | undefined>;
  findFamily(id: FamilyId): Promise<FamilyInSession | undefined>;
  /**
   * Reports whether the client still has a family in the session. Ignores families that started after `startedBy` (Unix
   * time in seconds). An access token that is older than every family belongs to a removed family.
   */
  hasFamily(
    sessionId: SessionId,
    offline: boolean,
    clientUuid: ClientUuid,
    startedBy?: Seconds,
  ): Promise<boolean>;
  rotateRefreshToken(rotation: Rotation): Promise<RotationResult>;
  /** Revokes one family; the user session continues. `removed` is false if there was no such family. */
  removeFamily(id: FamilyId): Promise<{ removed: boolean }>;
  /** Ends one user session with all its families. `ended` is false if there was no such session. */
  endSession(id: SessionId, offline: boolean): Promise<{ ended: boolean }>;
  /** Unfinished logins and unexchanged codes end too. */
  endUserSessions(userId: string, options: { offlineToo: boolean }): Promise<{ ended: number }>;
  /** Ends all online sessions of a realm. */
  endRealmSessions(realmId: RealmId): Promise<{ ended: number }>;
  listUserSessions(userId: string, offline: boolean): Promise<readonly SessionWithClients[]>;
  listClientSessions(query: {
    clientUuid: ClientUuid;
    offline: boolean;
    first: number;
    max: number;
  }): Promise<readonly SessionWithClients[]>;
  /** Sorted by id. Returns pages as `userPages` does. */
  clientSessionPages(
    query: { clientUuid: ClientUuid; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]>;
  countClientSessions(
    realmId: RealmId,
  ): Promise<readonly { clientUuid: ClientUuid; online: number; offline: number }[]>;
  /** Makes the service refuse the access token with this `jti` until `expiresAt` (Unix time in seconds). */
  revokeAccessToken(jti: string, expiresAt: Seconds): Promise<void>;
  isAccessTokenRevoked(jti: string): Promise<boolean>;
  /**
   * Returns true to the first caller with this key, and false to all others until `expiresAt` (Unix time in seconds).
   */
  claimOnce(key: string, expiresAt: Seconds): Promise<boolean>;
  /** Reports whether a claim of this key is in force. */
  isClaimed(key: string): Promise<boolean>;
}
