/** A user session: one login of one user (spec, "States and transitions": active while the row exists). */
export interface UserSession {
  id: string;
  /** Offline sessions outlive the online one of the same id; (id, offline) is the key. */
  offline: boolean;
  realmId: string;
  userId: string;
  /** Second of the login. */
  startedAt: number;
  /** Second of the last use: login, refresh of any of its families. */
  lastAccessAt: number;
  ipAddress: string;
  rememberMe: boolean;
  /** Small facts of the login: `auth_time`, `acr`, `authMethod` … */
  notes: Readonly<Record<string, string>>;
}

/**
 * A token family: all refresh tokens that one login of one client led to (RFC 9700 §4.14.2). One row; the
 * tokens themselves are never stored, only SHA-256 hashes of the newest two generations.
 */
export interface TokenFamily {
  /** The claim `reuse_id`. */
  id: string;
  sessionId: string;
  offline: boolean;
  realmId: string;
  clientUuid: string;
  userId: string;
  /** SHA-256 of the newest refresh token issued. */
  currentHash: Buffer;
  /** SHA-256 of the token that the newest one was issued for; absent before the first refresh. */
  parentHash?: Buffer;
  /** How often the parent was used. */
  parentUses: number;
  /** All scopes granted, hidden ones too, separated by blanks. */
  scope: string;
  /** Second when the family began (start of the client session). */
  startedAt: number;
  /** Second of the last refresh, or of the start. */
  lastRefreshAt: number;
  /** `nonce` and the like, for tokens issued later. */
  notes: Readonly<Record<string, string>>;
}

/**
 * Tells the clients of user sessions that these have ended (Back-Channel Logout 1.0 §2.5). Who ends sessions asks
 * first, while the store still knows which clients took part, and tells once they are ended.
 */
export interface SessionEndings {
  /**
   * Finds which clients are to be told of the end of these sessions. The function that is answered sends it; it
   * resolves when all clients were reached or after a short while, goes on trying behind that, and never throws.
   */
  prepare(realmId: string, ending: EndingSessions): Promise<() => Promise<void>>;
}

/**
 * Sessions of one user with the clients that have tokens of them; all of a user's; or the part that one client, whose
 * consent is withdrawn, has in those of a user that are not offline.
 */
export type EndingSessions =
  | {
      sessions: readonly {
        session: Pick<UserSession, 'id' | 'userId' | 'offline'>;
        clientUuids: readonly string[];
      }[];
    }
  | { userId: string; offlineToo: boolean }
  | { userId: string; clientUuid: string };
