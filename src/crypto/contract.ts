import type { KeyObject } from 'node:crypto';
import type { Credential } from '../model/index.ts';
import type { HashCaller } from './fair-queue.ts';

/** The parameters of new password hashes (docs/keycloak/users.md#password-hashes). */
export interface HashPolicy {
  algorithm: 'argon2' | 'pbkdf2-sha256' | 'pbkdf2-sha512' | 'pbkdf2';
  /** Default: the algorithm's default in Keycloak 26. */
  iterations?: number;
}

/** Thrown when too many passwords are waiting to be hashed. The same request can succeed a moment later. */
export class HashingBusy extends Error {
  override readonly name = 'HashingBusy';

  constructor() {
    super('too many passwords are waiting to be hashed');
  }
}

/** The load of the hash threads. */
export interface HashingFigures {
  /** Number of hashes that are waiting. */
  waiting: number;
  /** Number of hashes since the start that were refused because too many were waiting. */
  refused: number;
}

/** Hashes passwords in separate threads, so that hashing does not delay signatures. */
export interface Passwords {
  /**
   * Returns a hasher for one external caller. The caller's hashes share the threads fairly with those of other callers,
   * and throw `HashingBusy` if too many are waiting. Without a caller, as in an import, a hash waits as long as needed.
   */
  forCaller(caller: HashCaller): Passwords;
  figures(): HashingFigures;
  /** Hashes a password. Returns `secretData` and `credentialData` in Keycloak's format. */
  hash(password: string, policy: HashPolicy): Promise<{ secretData: string; credentialData: string }>;
  /**
   * Compares a password with a stored hash in constant time. `unsupported`: the hash has an unknown algorithm or
   * parameter and matches no password. `outdated`: the parameters of the hash differ from `policy`.
   */
  verify(
    password: string,
    stored: Pick<Credential, 'secretData' | 'credentialData'>,
    policy: HashPolicy,
  ): Promise<{ outcome: 'match'; outdated: boolean } | { outcome: 'mismatch' } | { outcome: 'unsupported' }>;
  /**
   * Takes as long as `verify`, but compares nothing, so that the response time does not reveal whether a user exists.
   * Uses the parameters of the first readable hash in `like`, otherwise those of the policy.
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

/** A key that signs or verifies. For the HS algorithms, `privateKey` is the shared secret. */
export interface JwsKey {
  kid: string;
  algorithm: SignatureAlgorithm;
  privateKey?: KeyObject;
  /** Absent for the HS algorithms. */
  publicKey?: KeyObject;
}
