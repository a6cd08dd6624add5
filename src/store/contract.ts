import type { Clock } from '../core/index.ts';
import type {
  AdminEvent,
  Client,
  ClientScope,
  Component,
  Consent,
  Credential,
  Group,
  LoginFailures,
  Realm,
  Role,
  TokenFamily,
  User,
  UserEvent,
  UserSession,
} from '../model/index.ts';
import type { ListStore } from './list-contract.ts';
import type { LoginStore } from './login-contract.ts';

/**
 * Everything of a realm that tokens need and that is small: settings, roles, scopes, groups, components.
 * Frozen; the same object is returned until something of it changes.
 */
export interface RealmConfiguration {
  realm: Realm;
  roles: ReadonlyMap<string, Role>;
  groups: ReadonlyMap<string, Group>;
  clientScopes: ReadonlyMap<string, ClientScope>;
  components: readonly Component[];
}

/**
 * One change of configuration or users. `create` fails on any identity or name that is taken, `put` replaces
 * a record that must exist and be as it was read, `remove` takes what belongs to the record with it (a realm everything of the realm,
 * a client its roles, service account, families; a user credentials, sessions, failures; a role its
 * assignments; a group its subgroups and memberships).
 */
export type Change =
  | { do: 'create' | 'put'; realm: Realm }
  | { do: 'create' | 'put'; client: Client }
  | { do: 'create' | 'put'; clientScope: ClientScope }
  | { do: 'create' | 'put'; role: Role }
  | { do: 'create' | 'put'; group: Group }
  | { do: 'create' | 'put'; component: Component }
  | { do: 'create' | 'put'; user: User }
  | { do: 'create' | 'put'; credential: Credential }
  | {
      do: 'remove';
      what: 'realm' | 'client' | 'clientScope' | 'role' | 'group' | 'component' | 'user' | 'credential';
      id: string;
    }
  /** Adds or takes single assignments, without reading and writing the whole user. */
  | { do: 'assign' | 'unassign'; userId: string; roleIds: readonly string[] }
  | { do: 'join' | 'leave'; userId: string; groupId: string }
  /** Creates or replaces a consent, for example of an imported user; the first date of one that is there stays. */
  | { do: 'putConsent'; consent: Consent }
  /**
   * Ends sessions as part of the change, for example when a password is set; logins half done and codes not exchanged
   * yet go too.
   */
  | { do: 'endSessions'; userId: string; offlineToo: boolean }
  | { do: 'record'; adminEvent: AdminEvent };

/** Which uniqueness stood in the way of `apply`; nothing of the list was done. */
export interface Conflict {
  outcome: 'conflict';
  on:
    | 'realm.id'
    | 'realm.name'
    | 'client.id'
    | 'client.clientId'
    | 'clientScope.id'
    | 'clientScope.name'
    | 'role.id'
    | 'role.name'
    | 'group.id'
    | 'group.name'
    | 'component.id'
    | 'user.id'
    | 'user.username'
    | 'user.email'
    | 'credential.id';
  /** The value that is taken. */
  value: string;
}

/** A record that a `put`, `assign`, `join` … names does not exist; nothing of the list was done. */
export interface Missing {
  outcome: 'missing';
  what: 'realm' | 'client' | 'clientScope' | 'role' | 'group' | 'component' | 'user' | 'credential';
  id: string;
}

/**
 * A record that a `put` names is no longer what it was read as: somebody else changed it meanwhile, or it was never
 * read (model, `Revised`). Nothing of the list was done.
 */
export interface Stale {
  outcome: 'stale';
  what: Missing['what'];
  id: string;
}

export type Applied = { outcome: 'applied' } | Conflict | Missing | Stale;

/** Filters of `listUsers` and `countUsers`; all given ones must match (facts §7.2). Service accounts never do. */
export interface UserQuery {
  realmId: string;
  /** Words that must all match username, e-mail, first or last name: prefix, `*infix*`, `"exact"`. */
  search?: string;
  username?: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  /** The four fields above match whole values instead of infixes. */
  exact?: boolean;
  emailVerified?: boolean;
  enabled?: boolean;
  /** Attribute name to value. */
  attributes?: Readonly<Record<string, string>>;
  first?: number;
  /** Absent: no limit. */
  max?: number;
  /** Only usernames behind this one. */
  after?: string;
}

/** Rotation rules in force for one refresh (spec, "Refresh token"; facts §4.2). */
export interface Rotation {
  familyId: string;
  /** SHA-256 of the token presented. */
  presentedHash: Buffer;
  /** SHA-256 of the token that will be answered. */
  nextHash: Buffer;
  /** Second of the refresh. */
  now: number;
  /** False: any token of the family may be used again. */
  singleUse: boolean;
  /** Further uses allowed of one token while `singleUse`; 0 is strict. */
  maxReuse: number;
}

/**
 * `rotated`: exactly this presentation won and `nextHash` is stored. `reused`: the token was used before; the
 * whole user session has been ended in the same transaction, with what these clients had of it; `exceeded` where it
 * was the newest token's own parent, else `stale`. `gone`: no such family (revoked, ended or never there).
 */
export type RotationResult =
  | { outcome: 'rotated' }
  | { outcome: 'reused'; reason: 'stale' | 'exceeded'; clientUuids: readonly string[] }
  | { outcome: 'gone' };

/** A family with its session, and the user session's last use over all its families. */
export interface FamilyInSession {
  family: TokenFamily;
  session: UserSession;
}

/** A user session with the clients that have families in it. */
export interface SessionWithClients {
  session: UserSession;
  username: string;
  clientUuids: readonly string[];
}

/** What one batch of a sweep did. */
export interface Swept {
  /** Records that are gone. */
  removed: number;
  /** Records that the batch worked on: those removed, and sessions that were due and live on. As many as allowed: more may be due. */
  handled: number;
}

/** Sizes for metrics and status. */
export interface StoreFigures {
  schemaVersion: number;
  databaseBytes: number;
  realms: number;
  users: number;
  userSessions: number;
  offlineSessions: number;
  tokenFamilies: number;
  /** Logins in a browser that are not finished. */
  openLogins: number;
}

/** Filters of `listEvents`; newest first. Times are milliseconds. */
export interface EventQuery {
  realmId: string;
  types?: readonly string[];
  clientId?: string;
  userId?: string;
  ipAddress?: string;
  from?: number;
  to?: number;
  first: number;
  max: number;
  /** Only what is older than the event of that place. */
  before?: { time: number; seq: number };
}

/** Filters of `listAdminEvents`; newest first. Times are milliseconds. */
export interface AdminEventQuery {
  realmId: string;
  operationTypes?: readonly string[];
  resourceTypes?: readonly string[];
  resourcePath?: string;
  authRealmId?: string;
  authClientId?: string;
  authUserId?: string;
  authIpAddress?: string;
  from?: number;
  to?: number;
  first: number;
  max: number;
  /** Only what is older than the event of that place. */
  before?: { time: number; seq: number };
}

/**
 * The persistence contract. Guarantees, each with a conformance test that quotes it:
 *
 * - A promise that resolves for a write means that the write is durable: it survives the loss of power.
 * - `apply` is atomic: all of the list is done, or nothing.
 * - Of any number of changes that read a record and put it, none is undone by another: the later one is `stale`.
 * - Of any number of parallel `rotateRefreshToken` calls that present the same token with `maxReuse` 0,
 *   exactly one is answered `rotated`.
 * - A refused rotation that finds reuse has ended the user session before it is answered.
 * - `claimOnce` answers true to exactly one caller per key until the claim expires.
 * - A read that starts after a write was answered sees that write. Where several stores are open on one database, all
 *   of this holds between them too, but that a change of configuration or users reaches another one within a second.
 * - Secrets, passwords and refresh tokens are never stored in the clear.
 * - `find…` answers undefined for what is absent, `list…` an empty array; neither throws for it.
 */
export interface Store extends LoginStore, ListStore {
  /**
   * What tells whether something has expired. The machine's clock; where several services share the database, its
   * server's, so that all of them agree.
   */
  readonly clock: Clock;

  // Configuration: cached, frozen objects.
  listRealmNames(): Promise<readonly string[]>;
  findRealm(name: string): Promise<RealmConfiguration | undefined>;
  findRealmById(id: string): Promise<RealmConfiguration | undefined>;
  findClient(realmId: string, clientId: string): Promise<Client | undefined>;
  findClientByUuid(realmId: string, id: string): Promise<Client | undefined>;
  /** Sorted by clientId. `clientId` matches exactly, `search` as infix. */
  listClients(query: {
    realmId: string;
    clientId?: string;
    search?: string;
    first?: number;
    max?: number;
  }): Promise<readonly Client[]>;

  // Users: never cached, but for service accounts, which are as configuration is.
  findUser(realmId: string, id: string): Promise<User | undefined>;
  /** `username` in lower case. */
  findUserByUsername(realmId: string, username: string): Promise<User | undefined>;
  /** `email` in lower case; the first by id where duplicates are allowed. */
  findUserByEmail(realmId: string, email: string): Promise<User | undefined>;
  findServiceAccount(clientUuid: string): Promise<User | undefined>;
  /** Sorted by username. */
  listUsers(query: UserQuery): Promise<readonly User[]>;
  countUsers(query: UserQuery): Promise<number>;
  /** How many enabled users have each required action. */
  countRequiredActions(realmId: string): Promise<ReadonlyMap<string, number>>;
  /** Sorted by username; service accounts too. */
  listUsersWithRole(roleId: string, first: number, max: number): Promise<readonly User[]>;
  listGroupMembers(groupId: string, first: number, max: number): Promise<readonly User[]>;
  /** By priority. */
  listCredentials(userId: string): Promise<readonly Credential[]>;
  /**
   * The password hash of some user of the realm, the same one for the same name until users come or leave; nobody who
   * lacks the master key can tell which one. Undefined: none was found among a few.
   */
  findSomePassword(
    realmId: string,
    name: string,
  ): Promise<Pick<Credential, 'secretData' | 'credentialData'> | undefined>;

  /** All writes of configuration and users. Atomic. */
  apply(changes: readonly Change[]): Promise<Applied>;
  /** Replaces a password hash after a login, only where the stored one still equals `previous.secretData`. */
  rehashPassword(previous: Credential, next: Credential): Promise<'replaced' | 'changed'>;

  // Sessions and tokens: never cached.
  /** One transaction: the session, where it is not there yet, and its family. */
  startSession(session: UserSession, family: TokenFamily): Promise<void>;
  findSession(id: string, offline: boolean): Promise<UserSession | undefined>;
  findFamily(id: string): Promise<FamilyInSession | undefined>;
  /**
   * Whether the client still has a family in the session; of those begun by second `startedBy` only, where given: an
   * access token that is older than all of them is of one that was taken away.
   */
  hasFamily(sessionId: string, offline: boolean, clientUuid: string, startedBy?: number): Promise<boolean>;
  rotateRefreshToken(rotation: Rotation): Promise<RotationResult>;
  /** Revokes one family; the user session lives on. `removed` false: it was not there. */
  removeFamily(id: string): Promise<{ removed: boolean }>;
  /** Ends one user session with all its families. `ended` false: it was not there. */
  endSession(id: string, offline: boolean): Promise<{ ended: boolean }>;
  /** Logins half done and codes not exchanged yet go too. */
  endUserSessions(userId: string, options: { offlineToo: boolean }): Promise<{ ended: number }>;
  /** Ends all online sessions of a realm. */
  endRealmSessions(realmId: string): Promise<{ ended: number }>;
  listUserSessions(userId: string, offline: boolean): Promise<readonly SessionWithClients[]>;
  listClientSessions(query: {
    clientUuid: string;
    offline: boolean;
    first: number;
    max: number;
  }): Promise<readonly SessionWithClients[]>;
  countClientSessions(
    realmId: string,
  ): Promise<readonly { clientUuid: string; online: number; offline: number }[]>;
  /** Until `expiresAt` (second) the access token with this `jti` is refused. */
  revokeAccessToken(jti: string, expiresAt: number): Promise<void>;
  isAccessTokenRevoked(jti: string): Promise<boolean>;
  /** True for the first caller of this key, until `expiresAt` (second). */
  claimOnce(key: string, expiresAt: number): Promise<boolean>;
  /** Whether a claim of this key is in force. */
  isClaimed(key: string): Promise<boolean>;

  // Brute force.
  findLoginFailures(realmId: string, userId: string): Promise<LoginFailures | undefined>;
  /** Compare and swap on `revision`: stores `next` with revision + 1 only where the stored one is `next.revision`. */
  putLoginFailures(next: LoginFailures): Promise<'stored' | 'changed'>;
  removeLoginFailures(realmId: string, userId?: string): Promise<void>;

  // Events.
  appendEvents(events: readonly UserEvent[]): Promise<void>;
  listEvents(query: EventQuery): Promise<readonly UserEvent[]>;
  clearEvents(realmId: string): Promise<void>;
  listAdminEvents(query: AdminEventQuery): Promise<readonly AdminEvent[]>;
  clearAdminEvents(realmId: string): Promise<void>;

  /**
   * Waits until no other store of the database has the turn of that name; what was changed in earlier ones is seen by
   * then. The answer ends the turn, as does the loss of the connection. Calls of one store are not held up by each
   * other: see core, `inTurn`.
   *
   * @param within milliseconds to wait; undefined is answered where others had the turn for all of them. What is cached
   * (see `findRealm`, `findUser`) may then be older than the turn
   */
  takeTurn(name: string): Promise<() => Promise<void>>;
  takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;

  // Life of the database.
  /**
   * Removes expired sessions, families, logins, codes, claims, revocations and events, and works on at most `limit`
   * records that are due. Of the stores of one database one does this, until it is closed or loses its connection; for
   * the others nothing is due.
   */
  sweep(now: number, limit: number): Promise<Swept>;
  figures(): Promise<StoreFigures>;
  /** Finishes running writes, checkpoints and closes. Idempotent. */
  close(): Promise<void>;
}
