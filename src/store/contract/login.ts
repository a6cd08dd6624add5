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

/** The state of a code when it was presented. */
export type TakenCode =
  | { outcome: 'taken'; code: AuthorizationCode }
  /**
   * An earlier call took the code. This call has removed the client from the session in the same transaction. `code`
   * lacks the parameters of the authorization request.
   */
  | { outcome: 'used'; code: AuthorizationCode }
  /** The code was never issued, has expired, or is so old that its mark was removed. */
  | { outcome: 'gone' };

/**
 * The state of logins in a browser. Guarantees, each with a conformance test that quotes it:
 *
 * - Of any number of parallel `finishLogin` calls for one authentication session, exactly one returns `finished`;
 *   its user session and code are stored before it returns.
 * - Of any number of parallel `takeCode` and `startFamily` calls for one code, exactly one wins: it returns
 *   `taken` or `started`.
 * - The second presentation of a code ends what the first one received, and everything else that its client has in the
 *   session.
 * - Whatever ends all sessions of a user also ends unfinished logins and unexchanged codes.
 * - Codes and browser cookies are stored as hashes only.
 */
export interface LoginStore {
  /**
   * Creates an authentication session (`revision` 0), or replaces the stored one if its revision is `next.revision`.
   * The stored record has revision + 1. Returns `changed` if another form of the same tab was stored first, or if the
   * session does not exist.
   */
  putAuthenticationSession(next: AuthenticationSession): Promise<'stored' | 'changed'>;
  /** Never returns an expired session. */
  findAuthenticationSession(id: string): Promise<AuthenticationSession | undefined>;
  removeAuthenticationSession(id: string): Promise<{ removed: boolean }>;
  /** Removes the session only if it has no user and no password was verified in it. */
  removeUnprovedSession(id: string): Promise<{ removed: boolean }>;
  /**
   * Keeps the newest `most` authentication sessions of a realm that have no user, and removes the others. It keeps a
   * session with a verified password.
   */
  boundAuthenticationSessions(realmId: RealmId, most: number): Promise<{ removed: number }>;

  /**
   * In one transaction, removes the authentication session, creates or continues the user session, and stores the
   * consent and the code. The authentication session is absent if the login needed no page. A continued user session
   * gets the last use of `session`. It also gets the notes of `session` if their `auth_time` is later than the stored
   * one.
   *
   *
   * @returns `gone` if the authentication session has another revision, or if the user session belongs to another user.
   * Also returns `gone` if the authentication session, the user, a client or (with `sessionMustExist`) the user session
   * does not exist. Nothing is written then.
   */
  finishLogin(login: {
    authenticationSession?: { id: string; revision: number };
    session: UserSession;
    sessionMustExist: boolean;
    consent?: Consent;
    /** Absent for response types without a code. */
    code?: AuthorizationCode;
  }): Promise<'finished' | 'gone'>;

  /** Reads a code without taking it. Returns undefined if it was presented before, has expired or never existed. */
  findCode(hash: Buffer, now: Seconds): Promise<AuthorizationCode | undefined>;
  /**
   * Takes a code without starting a family, for an exchange that fails. The store keeps the mark of the code for an
   * hour after its expiry.
   */
  takeCode(hash: Buffer, now: Seconds): Promise<TakenCode>;
  /**
   * In one transaction, takes the code if one is given, and stores the family and any given offline session. Returns
   * `used` as `takeCode` does. Returns `gone` if the code, the user session or the client does not exist.
   */
  startFamily(
    code: { hash: Buffer; now: Seconds } | undefined,
    family: TokenFamily,
    offlineSession?: UserSession,
  ): Promise<'started' | 'used' | 'gone'>;

  /**
   * Returns the notes of the client's newest family in the session that started at `startedBy` (Unix time in seconds)
   * or earlier. Returns an empty object if there is no such family.
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
   * Removes the consent and, with it, all families that the client has of the user, including offline ones. If there is
   * no consent, it removes only the offline families. `removed` is false if there was neither.
   */
  removeConsent(userId: string, clientUuid: ClientUuid): Promise<{ removed: boolean }>;
  /**
   * Reports whether a family was removed together with its consent, or because its code was presented twice. The store
   * remembers it for a day.
   */
  wasDetached(familyId: FamilyId): Promise<boolean>;
}
