import type { Revised, Secrets } from './record.ts';

/** A user, under the names of UserRepresentation (facts §8.2). */
export interface User extends Revised {
  id: string;
  realmId: string;
  /** Lower case. */
  username: string;
  firstName?: string;
  lastName?: string;
  /** Lower case. */
  email?: string;
  emailVerified: boolean;
  enabled: boolean;
  /** Milliseconds since the Unix epoch. */
  createdTimestamp: number;
  attributes: Readonly<Record<string, readonly string[]>>;
  requiredActions: readonly string[];
  /** Tokens issued before this second are stale. */
  notBefore: number;
  /** Set for the user behind a client's service account. */
  serviceAccountClientUuid?: string;
  /** Ids of roles assigned directly. */
  roleIds: readonly string[];
  groupIds: readonly string[];
  /** Other fields of UserRepresentation that were given (federationLink, federatedIdentities, consents …). */
  kept: Readonly<Record<string, unknown>>;
}

/** A stored credential (CredentialRepresentation, facts §9). */
export interface Credential extends Revised {
  id: string;
  userId: string;
  type: string;
  userLabel?: string;
  /** Milliseconds since the Unix epoch. */
  createdDate: number;
  /** JSON text, as Keycloak writes it. */
  credentialData: string;
  /**
   * For a password, Keycloak's secretData JSON (hash and salt, never the password). Absent for every other
   * type: those hold their secretData in `secrets` under `/secretData`.
   */
  secretData?: string;
  secrets: Secrets;
  /** Lower comes first. */
  priority: number;
}

/** Brute-force counters of one user (facts §11). */
export interface LoginFailures {
  realmId: string;
  userId: string;
  /** Goes up by one at every change; compared by `putLoginFailures`. 0: no row yet. */
  revision: number;
  failures: number;
  temporaryLockouts: number;
  /** Milliseconds since the Unix epoch. */
  lastFailureAt: number;
  /** Locked until this second; 0: not locked. */
  lockedUntil: number;
  lastIpAddress: string;
}
