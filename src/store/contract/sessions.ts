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
  /** False: any token of the family may be used again. */
  singleUse: boolean;
  /** The number of further uses of one token while `singleUse` is true. 0 is strict. */
  maxReuse: number;
}

/**
 * `rotated`: this presentation won, and `nextHash` is stored. `reused`: the token was used before. The same transaction
 * has ended the whole user session; `clientUuids` names the clients in it. The reason is `exceeded` if the token is the
 * parent of the newest token, otherwise `stale`. `gone`: the family is revoked, has ended or never existed.
 */
export type RotationResult =
  | { outcome: 'rotated' }
  | { outcome: 'reused'; reason: 'stale' | 'exceeded'; clientUuids: readonly ClientUuid[] }
  | { outcome: 'gone' };

/** A family with its session. The session's last access counts all its families. */
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

/** User sessions and their token families, never cached; and what must be used only once. */
export interface SessionStore {
  /** One transaction: creates the session if it does not exist, and its family. */
  startSession(session: UserSession, family: TokenFamily): Promise<void>;
  findSession(id: SessionId, offline: boolean): Promise<UserSession | undefined>;
  findFamily(id: FamilyId): Promise<FamilyInSession | undefined>;
  /**
   * Reports whether the client still has a family in the session. `startedBy` (Unix time in seconds) ignores younger
   * families: an access token that is older than all families belongs to one that was removed.
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
  /** Sorted by id; read page by page, as `userPages`. */
  clientSessionPages(
    query: { clientUuid: ClientUuid; offline: boolean } & Range,
  ): AsyncIterable<readonly SessionWithClients[]>;
  countClientSessions(
    realmId: RealmId,
  ): Promise<readonly { clientUuid: ClientUuid; online: number; offline: number }[]>;
  /** The access token with this `jti` is refused until `expiresAt` (Unix time in seconds). */
  revokeAccessToken(jti: string, expiresAt: Seconds): Promise<void>;
  isAccessTokenRevoked(jti: string): Promise<boolean>;
  /** Returns true to the first caller with this key, until `expiresAt` (Unix time in seconds). */
  claimOnce(key: string, expiresAt: Seconds): Promise<boolean>;
  /** Reports whether a claim of this key is in force. */
  isClaimed(key: string): Promise<boolean>;
}
