import type { Seconds } from '../../core/index.ts';
import type {
  AuthenticationSession,
  AuthorizationCode,
  ClientUuid,
  Consent,
  FamilyId,
  RealmId,
  SessionId,
  TokenFamily,
  UserSession,
} from '../../model/index.ts';

/** The result of presenting an authorization code. */
export type TakenCode =
  | { outcome: 'taken'; code: AuthorizationCode }
  /**
   * The code was presented before, so this call has removed the client from the session. `code` lacks the parameters of
   * the authorization request.
   */
  | { outcome: 'used'; code: AuthorizationCode }
  /** The code was never issued or has expired, or its record has already been removed. */
  | { outcome: 'gone' };

/**
 * Stores the state of browser logins. Its guarantees, each with a conformance test that quotes it:
 *
 * - If parallel `finishLogin` calls finish the same authentication session, exactly one returns `finished`. Its user
 *   session and code are stored before it returns.
 * - If parallel `takeCode` and `startFamily` calls present the same code, exactly one returns `taken` or `started`.
 * - Presenting a code again ends everything that its client has in the session, including what the first call received.
 * - Ending all sessions of a user also ends unfinished logins and unexchanged codes.
 * - Codes and browser cookies are stored as hashes only.
 */
export interface LoginStore {
  /**
   * Creates an authentication session (`revision` 0), or replaces the stored one if its revision is `next.revision`.
   * The stored record has revision + 1. Returns `changed` if the session does not exist, or if another request of the
   * same tab changed it first.
   */
  putAuthenticationSession(next: AuthenticationSession): Promise<'stored' | 'changed'>;
  /** Returns undefined if the session has expired or does not exist. */
  findAuthenticationSession(id: string): Promise<AuthenticationSession | undefined>;
  removeAuthenticationSession(id: string): Promise<{ removed: boolean }>;
  /** Removes the session, but only if it has no user and no password was verified in it. */
  removeUnprovedSession(id: string): Promise<{ removed: boolean }>;
  /**
   * Limits the authentication sessions of a realm that have no user yet: keeps the newest `most`, and removes the older
   * ones. Never removes a session in which a password was verified.
   */
  boundAuthenticationSessions(realmId: RealmId, most: number): Promise<{ removed: number }>;

  /**
   * Finishes a login in one transaction: removes the authentication session, creates or continues the user session, and
   * stores the consent and the code. A login without pages has no authentication session. If a user session continues,
   * the store takes the time of its last use from `session`, and replaces the stored notes if those of `session` have a
   * later `auth_time`.
   *
   * @returns `gone`, without writing anything, if the authentication session has another revision or the user session
   * belongs to another user. Also returns `gone` if the authentication session, the user, a client or (with
   * `sessionMustExist`) the user session does not exist.
   */
  finishLogin(login: {
    authenticationSession?: { id: string; revision: number };
    session: UserSession;
    sessionMustExist: boolean;
    consent?: Consent;
    /** Absent if the response type includes no code. */
    code?: AuthorizationCode;
  }): Promise<'finished' | 'gone'>;

  /**
   * Returns a code without marking it as used. Returns undefined if the code was presented before, has expired or never
   * existed.
   */
  findCode(hash: Buffer, now: Seconds): Promise<AuthorizationCode | undefined>;
  /**
   * Marks a code as used without starting a token family, for an exchange that has failed. The store remembers a used
   * code until an hour after its expiry.
   */
  takeCode(hash: Buffer, now: Seconds): Promise<TakenCode>;
  /**
   * Starts a token family in one transaction: marks the code, if given, as used, and stores the family and the offline
   * session, if given. Returns `used` as `takeCode` does. Returns `gone` if the code, the user session or the client
   * does not exist.
   */
  startFamily(
    code: { hash: Buffer; now: Seconds } | undefined,
    family: TokenFamily,
    offlineSession?: UserSession,
  ): Promise<'started' | 'used' | 'gone'>;

  /**
   * Returns the notes of the client's newest token family that started in the session at `startedBy` (Unix time in
   * seconds) or earlier. Returns an empty object if the client has no such family.
   */
  findClientNotes(
    sessionId: SessionId,
    offline: boolean,
    clientUuid: ClientUuid,
    startedBy: Seconds,
  ): Promise<Readonly<Record<string, string>>>;

  findConsent(userId: string, clientUuid: ClientUuid): Promise<Consent | undefined>;
  /** Oldest first. */
  listConsents(userId: string): Promise<readonly Consent[]>;
  /**
   * Removes the consent and, with it, all token families of the client for this user, including offline ones. If the
   * user has not consented, it removes only the offline families. `removed` is false if the user had neither.
   */
  removeConsent(userId: string, clientUuid: ClientUuid): Promise<{ removed: boolean }>;
  /**
   * Reports whether a token family was removed because its consent was withdrawn or its code was presented twice. The
   * store remembers this for a day.
   */
  wasDetached(familyId: FamilyId): Promise<boolean>;
}
