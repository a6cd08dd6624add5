import type {
  AuthenticationSession,
  AuthorizationCode,
  Consent,
  TokenFamily,
  UserSession,
} from '../model/index.ts';

/** What a code turned out to be when it was presented. */
export type TakenCode =
  | { outcome: 'taken'; code: AuthorizationCode }
  /**
   * It was taken before; the client was taken out of the session in the same transaction. The code is without what the
   * request asked for.
   */
  | { outcome: 'used'; code: AuthorizationCode }
  /** No such code: never issued, not taken in time, or so old that its mark is gone. */
  | { outcome: 'gone' };

/**
 * What the login in a browser keeps. Guarantees, each with a conformance test that quotes it:
 *
 * - Of any number of parallel `finishLogin` calls for one authentication session, exactly one is answered
 *   `finished`; its user session and code are there when it is.
 * - Of any number of parallel `takeCode` and `startFamily` calls for one code, exactly one has it: it is answered
 *   `taken` or `started`.
 * - A code that is presented a second time ends what the first one got, as all that its client has in the session.
 * - Whatever ends all sessions of a user ends logins half done and codes not exchanged yet too.
 * - Codes and browser cookies are stored as hashes only.
 */
export interface LoginStore {
  /**
   * Creates (`revision` 0) or replaces an authentication session where the stored one has `next.revision`; it is
   * stored with revision + 1. `changed`: another form of the same tab came first, or the session is gone.
   */
  putAuthenticationSession(next: AuthenticationSession): Promise<'stored' | 'changed'>;
  /** Never an expired one. */
  findAuthenticationSession(id: string): Promise<AuthenticationSession | undefined>;
  removeAuthenticationSession(id: string): Promise<{ removed: boolean }>;
  /** Removes one that has no user, and in which no password was proved. */
  removeUnprovedSession(id: string): Promise<{ removed: boolean }>;
  /**
   * Of a realm's authentication sessions without a user, removes the oldest beyond the newest `most`; one in which a
   * password was proved already stays.
   */
  boundAuthenticationSessions(realmId: string, most: number): Promise<{ removed: number }>;

  /**
   * One transaction: takes the authentication session away (absent: a login that needed no page), creates the user
   * session where there is none of that id (else its last use becomes `session.lastAccessAt`, and where the note
   * `auth_time` is later than its own, its notes become those of `session`), stores the consent and the code. `gone`:
   * the authentication session has another revision or is not there, or the user, client or (where
   * `sessionMustExist`) user session is gone, or the user session is of another user; nothing was done.
   */
  finishLogin(login: {
    authenticationSession?: { id: string; revision: number };
    session: UserSession;
    sessionMustExist: boolean;
    consent?: Consent;
    /** Absent for response types without a code. */
    code?: AuthorizationCode;
  }): Promise<'finished' | 'gone'>;

  /** Looks at a code by the hash of its text. Undefined: it was presented before, has ended or never was. */
  findCode(hash: Buffer, now: number): Promise<AuthorizationCode | undefined>;
  /** Takes a code without anything for it, as a failed exchange does; its mark stays for an hour after its end. */
  takeCode(hash: Buffer, now: number): Promise<TakenCode>;
  /**
   * One transaction: takes the code, where there is one, and stores the family that it stands for, with the offline
   * session where it needs one. `used`: as `takeCode` answers it. `gone`: no such code, or the user session or client
   * is gone.
   */
  startFamily(
    code: { hash: Buffer; now: number } | undefined,
    family: TokenFamily,
    offlineSession?: UserSession,
  ): Promise<'started' | 'used' | 'gone'>;

  /** Notes of the client's newest family in the session, of those begun by second `startedBy`; empty without one. */
  findClientNotes(
    sessionId: string,
    offline: boolean,
    clientUuid: string,
    startedBy: number,
  ): Promise<Readonly<Record<string, string>>>;

  findConsent(userId: string, clientUuid: string): Promise<Consent | undefined>;
  /** Oldest first. */
  listConsents(userId: string): Promise<readonly Consent[]>;
  /**
   * Takes the consent away and, with it, the client's families of the user, offline ones too. Without a consent the
   * offline ones alone; `removed` false: there was neither.
   */
  removeConsent(userId: string, clientUuid: string): Promise<{ removed: boolean }>;
  /** Whether a family that is gone was taken away with its consent, or because its code came twice; for a day. */
  wasDetached(familyId: string): Promise<boolean>;
}
