import type { RealmId } from './ids.ts';
import type { Revised, Secrets } from './record.ts';

/** A user, with the field names of UserRepresentation (docs/keycloak/users.md#representation). */
export interface User extends Revised {
  id: string;
  realmId: RealmId;
  /** In lower case. */
  username: string;
  firstName?: string;
  lastName?: string;
  /** In lower case. */
  email?: string;
  emailVerified: boolean;
  enabled: boolean;
  /** Unix time in milliseconds. */
  createdTimestamp: number;
  attributes: Readonly<Record<string, readonly string[]>>;
  requiredActions: readonly string[];
  /** Unix time in seconds. Tokens that were issued earlier are invalid. */
  notBefore: number;
  /** Set for the user of a client's service account. */
  serviceAccountClientUuid?: string;
  /** Ids of the directly assigned roles. */
  roleIds: readonly string[];
  groupIds: readonly string[];
  /** All other fields of the UserRepresentation, such as federationLink or federatedIdentities. */
  kept: Readonly<Record<string, unknown>>;
}

/** A stored credential (CredentialRepresentation, docs/keycloak/users.md#credentials). */
export interface Credential extends Revised {
  id: string;
  userId: string;
  type: string;
  userLabel?: string;
  /** Unix time in milliseconds. */
  createdDate: number;
  /** JSON text in Keycloak's format. */
  credentialData: string;
  /**
   * For a password, Keycloak's `secretData` as JSON: hash and salt, never the password. Absent for all other types,
   * whose `secretData` is in `secrets` under `/secretData`.
   */
  secretData?: string;
  secrets: Secrets;
  /** Credentials with a lower priority come first. */
  priority: number;
}

/**
 * The failed logins of a user, which are counted to detect brute force (docs/keycloak/login.md#brute-force-protection).
 */
export interface LoginFailures {
  realmId: RealmId;
  userId: string;
  /** Increases with every change. `putLoginFailures` compares it. 0 if the record is not stored yet. */
  revision: number;
  failures: number;
  temporaryLockouts: number;
  /** Unix time in milliseconds. */
  lastFailureAt: number;
  /** Unix time in seconds at which the lock ends. 0 if the user is not locked. */
  lockedUntil: number;
  lastIpAddress: string;
}
