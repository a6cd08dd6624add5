import type { ClientUuid, Credential, LoginFailures, RealmId, User } from '../../model/index.ts';

/** The range of entries that a list method returns. */
export interface Range {
  /** Number of entries to skip. */
  first: number;
  max: number;
}

/**
 * Filters of `listUsers` and `countUsers`. A user must match all of them. Service accounts never match
 * (docs/keycloak/users.md#search).
 */
export interface UserQuery {
  realmId: RealmId;
  /**
   * Words, each of which must match the username, e-mail, first or last name. A word is a prefix, `*infix*` or
   * `"exact"`.
   */
  search?: string;
  username?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  /** If true, `username`, `email`, `firstName` and `lastName` match whole values instead of infixes. */
  exact?: boolean;
  emailVerified?: boolean;
  enabled?: boolean;
  /** The required attribute values, by name. */
  attributes?: Readonly<Record<string, string>>;
  first?: number;
  /** Default: no limit. */
  max?: number;
  /** The last username of the previous page. The result starts after it. */
  after?: string;
}

/** Which users a list shows, and what of them. */
export type UserListQuery = UserQuery &
  Range & {
    /** If false, the list does not read credentials, which is twice as fast. Default: true. */
    withOtp?: boolean;
  };

/** What a list shows of a user. */
export interface ListedUser
  extends Omit<User, 'realmId' | 'serviceAccountClientUuid' | 'roleIds' | 'groupIds'> {
  /** True if the user has a one-time password. Undefined if the query does not select this. */
  hasOtp?: boolean;
}

/** Stores users with their credentials and login failures. Only service accounts are cached. */
export interface UserStore {
  findUser(realmId: RealmId, id: string): Promise<User | undefined>;
  /** `username` must be in lower case. */
  findUserByUsername(realmId: RealmId, username: string): Promise<User | undefined>;
  /**
   * `email` must be in lower case. If the realm allows duplicate e-mail addresses, returns the user with the lowest id.
   */
  findUserByEmail(realmId: RealmId, email: string): Promise<User | undefined>;
  findServiceAccount(clientUuid: ClientUuid): Promise<User | undefined>;
  /** Sorted by username. */
  listUsers(query: UserQuery): Promise<readonly User[]>;
  countUsers(query: UserQuery): Promise<number>;
  /** Returns the number of enabled users for each required action. */
  countRequiredActions(realmId: RealmId): Promise<ReadonlyMap<string, number>>;
  /** Counts the enabled users whose e-mail address is not verified. Does not count service accounts. */
  countUnverifiedUsers(realmId: RealmId): Promise<number>;
  /** Sorted by username. Includes service accounts. */
  listUsersWithRole(roleId: string, first: number, max: number): Promise<readonly User[]>;
  listGroupMembers(groupId: string, first: number, max: number): Promise<readonly User[]>;

  // These methods read lists of any length page by page, so that the caller holds only one page in memory. Pages are
  // never empty. An entry that is added or removed meanwhile may be missing. Every other entry appears exactly once.
  /** Sorted by username. */
  userPages(query: UserListQuery): AsyncIterable<readonly ListedUser[]>;
  /** Sorted by username. Includes service accounts. */
  roleUserPages(roleId: string, range: Range): AsyncIterable<readonly User[]>;
  memberPages(groupId: string, range: Range): AsyncIterable<readonly User[]>;

  /** Sorted by priority. */
  listCredentials(userId: string): Promise<readonly Credential[]>;
  /**
   * Returns the password hash of some user, so that a login with an unknown name can do the same work as one with a
   * known name. The same `name` selects the same user until users are added or removed, and only the master key reveals
   * which one. Returns undefined if none of the first few candidates has a password.
   */
  findSomePassword(
    realmId: RealmId,
    name: string,
  ): Promise<Pick<Credential, 'secretData' | 'credentialData'> | undefined>;
  /** Replaces a password hash after a login, but only if the stored hash still equals `previous.secretData`. */
  rehashPassword(previous: Credential, next: Credential): Promise<'replaced' | 'changed'>;

  findLoginFailures(realmId: RealmId, userId: string): Promise<LoginFailures | undefined>;
  /** Stores `next` with revision + 1, but only if the stored revision is `next.revision`. */
  putLoginFailures(next: LoginFailures): Promise<'stored' | 'changed'>;
  /** Removes the login failures of one user or, without `userId`, of every user of the realm. */
  removeLoginFailures(realmId: RealmId, userId?: string): Promise<void>;
}
