import type { KeyObject } from 'node:crypto';
import type { Credential } from '../model/index.ts';
import type { HashCaller } from './fair-queue.ts';

/** The parameters of new password hashes (facts §9). */
export interface HashPolicy {
  algorithm: 'argon2' | 'pbkdf2-sha256' | 'pbkdf2-sha512' | 'pbkdf2';
  /** Absent: the algorithm's default in Keycloak 26. */
  iterations?: number;
}

/** Too many passwords wait for their hash already; the same request may succeed in a moment. */
export class HashingBusy extends Error {
  override readonly name = 'HashingBusy';

  constructor() {
    super('too many passwords wait for their hash');
  }
}

/** What waits now, and how many were refused since the start because too many waited. */
export interface HashingFigures {
  waiting: number;
  refused: number;
}

/** Password hashing off the main thread, so that signing is not slowed (performance.md §6). */
export interface Passwords {
  /**
   * The same for one who asks from outside: takes turns with all others and throws `HashingBusy` where too many wait.
   * Without a caller, as in an import, a hash waits for as long as it takes.
   */
  forCaller(caller: HashCaller): Passwords;
  figures(): HashingFigures;
  /** secretData and credentialData as Keycloak writes them. */
  hash(password: string, policy: HashPolicy): Promise<{ secretData: string; credentialData: string }>;
  /**
   * Constant-time comparison with a stored hash. `unsupported`: an algorithm or parameter that is not known; it
   * never matches. `outdated` on a match: parameters differ from `policy`.
   */
  verify(
    password: string,
    stored: Pick<Credential, 'secretData' | 'credentialData'>,
    policy: HashPolicy,
  ): Promise<{ outcome: 'match'; outdated: boolean } | { outcome: 'mismatch' } | { outcome: 'unsupported' }>;
  /**
   * The same work as one `verify` that compares nothing: as the first of `like` is hashed whose parameters are known,
   * else by the policy.
   */
  verifyNobody(
    password: string,
    policy: HashPolicy,
    like?: readonly Pick<Credential, 'secretData' | 'credentialData'>[],
  ): Promise<void>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/** Signature algorithms (RFC 7518 §3.1, RFC 8037). */
export type SignatureAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'HS256'
  | 'HS384'
  | 'HS512';

/** A key that signs or verifies. `privateKey` is the secret itself for HS algorithms. */
export interface JwsKey {
  kid: string;
  algorithm: SignatureAlgorithm;
  privateKey?: KeyObject;
  /** Absent for HS algorithms. */
  publicKey?: KeyObject;
}
