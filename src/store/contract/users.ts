import type { ClientUuid, Credential, LoginFailures, RealmId, User } from '../../model/index.ts';

/** A part of a list. */
export interface Range {
  /** The number of entries to skip. */
  first: number;
  max: number;
}

/**
 * Filters of `listUsers` and `countUsers`. A user must match all of them; a service account never does
 * (docs/keycloak/users.md#search).
 */
export interface UserQuery {
  realmId: RealmId;
  /** Words that must all match the username, e-mail, first or last name. Each is a prefix, `*infix*` or `"exact"`. */
  search?: string;
  username?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  /** If true, the four fields above match whole values instead of infixes. */
  exact?: boolean;
  emailVerified?: boolean;
  enabled?: boolean;
  /** Attribute name to value. */
  attributes?: Readonly<Record<string, string>>;
  first?: number;
  /** Default: no limit. */
  max?: number;
  /** Skips usernames up to and including this one. */
  after?: string;
}

/** Users with their credentials and login failures. Only service accounts are cached, like configuration. */
export interface UserStore {
  findUser(realmId: RealmId, id: string): Promise<User | undefined>;
  /** `username` must be in lower case. */
  findUserByUsername(realmId: RealmId, username: string): Promise<User | undefined>;
  /** `email` must be in lower case. Returns the first user by id if the realm allows duplicates. */
  findUserByEmail(realmId: RealmId, email: string): Promise<User | undefined>;
  findServiceAccount(clientUuid: ClientUuid): Promise<User | undefined>;
  /** Sorted by username. */
  listUsers(query: UserQuery): Promise<readonly User[]>;
  countUsers(query: UserQuery): Promise<number>;
  /** Returns the number of enabled users for each required action. */
  countRequiredActions(realmId: RealmId): Promise<ReadonlyMap<string, number>>;
  /** Sorted by username. Includes service accounts. */
  listUsersWithRole(roleId: string, first: number, max: number): Promise<readonly User[]>;
  listGroupMembers(groupId: string, first: number, max: number): Promise<readonly User[]>;

  // Lists of any length are read page by page, so that the caller holds only one page in memory. No page is empty. An
  // entry that is added or removed during the walk may or may not appear; every other entry appears exactly once.
  /** Sorted by username. */
  userPages(query: UserQuery & Range): AsyncIterable<readonly User[]>;
  /** Sorted by username. Includes service accounts. */
  roleUserPages(roleId: string, range: Range): AsyncIterable<readonly User[]>;
  memberPages(groupId: string, range: Range): AsyncIterable<readonly User[]>;
  /** Returns those of the users who have a one-time password. */
  findOtpOwners(userIds: readonly string[]): Promise<ReadonlySet<string>>;

  /** Sorted by priority. */
  listCredentials(userId: string): Promise<readonly Credential[]>;
  /**
   * Returns the password hash of one user of the realm. The same name selects the same user until users are added or
   * removed, and only the master key reveals which. Returns undefined if none of the first few users has a password.
   */
  findSomePassword(
    realmId: RealmId,
    name: string,
  ): Promise<Pick<Credential, 'secretData' | 'credentialData'> | undefined>;
  /** Replaces a password hash after a login, only if the stored hash still equals `previous.secretData`. */
  rehashPassword(previous: Credential, next: Credential): Promise<'replaced' | 'changed'>;

  findLoginFailures(realmId: RealmId, userId: string): Promise<LoginFailures | undefined>;
  /** Compare and swap: stores `next` with revision + 1, only if the stored revision is `next.revision`. */
  putLoginFailures(next: LoginFailures): Promise<'stored' | 'changed'>;
  /** Removes the failures of one user. Default: of every user of the realm. */
  removeLoginFailures(realmId: RealmId, userId?: string): Promise<void>;
}
