import type { KeyObject } from 'node:crypto';
import type { Credential } from '../model/index.ts';
import type { HashCaller } from './fair-queue.ts';

/** The parameters of new password hashes (docs/keycloak/users.md#password-hashes). */
export interface HashPolicy {
  algorithm: 'argon2' | 'pbkdf2-sha256' | 'pbkdf2-sha512' | 'pbkdf2';
  /** Default: the algorithm's default in Keycloak 26. */
  iterations?: number;
}

/** Too many passwords wait to be hashed. The same request may succeed a moment later. */
export class HashingBusy extends Error {
  override readonly name = 'HashingBusy';

  constructor() {
    super('too many passwords are waiting to be hashed');
  }
}

/** The number of waiting hashes, and of hashes rejected since the start because too many were waiting. */
export interface HashingFigures {
  waiting: number;
  refused: number;
}

/** Password hashing in other threads, so that it does not slow down signing. */
export interface Passwords {
  /**
   * Returns the same service for one external caller, whose hashes take turns with those of others. It throws
   * `HashingBusy` if too many wait. Without a caller, as in an import, a hash waits as long as needed.
   */
  forCaller(caller: HashCaller): Passwords;
  figures(): HashingFigures;
  /** Returns secretData and credentialData in Keycloak's format. */
  hash(password: string, policy: HashPolicy): Promise<{ secretData: string; credentialData: string }>;
  /**
   * Compares with a stored hash in constant time. `unsupported`: an unknown algorithm or parameter, which never
   * matches. `outdated`: the parameters differ from `policy`.
   */
  verify(
    password: string,
    stored: Pick<Credential, 'secretData' | 'credentialData'>,
    policy: HashPolicy,
  ): Promise<{ outcome: 'match'; outdated: boolean } | { outcome: 'mismatch' } | { outcome: 'unsupported' }>;
  /**
   * Does the work of one `verify` without comparing. It uses the parameters of the first readable hash in `like`,
   * otherwise those of the policy.
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

/** A key that signs or verifies. For HS algorithms, `privateKey` is the secret itself. */
export interface JwsKey {
  kid: string;
  algorithm: SignatureAlgorithm;
  privateKey?: KeyObject;
  /** Absent for HS algorithms. */
  publicKey?: KeyObject;
}
