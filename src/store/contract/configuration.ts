import type {
  AdminEvent,
  Client,
  ClientId,
  ClientScope,
  ClientUuid,
  Component,
  Consent,
  Credential,
  Group,
  Realm,
  RealmId,
  Role,
  User,
} from '../../model/index.ts';
import type { KeptUntil } from './trash.ts';

/**
 * The parts of a realm that tokens depend on: settings, roles, scopes, groups and components. The object is frozen. The
 * store returns the same object until one of these parts changes.
 */
export interface RealmConfiguration {
  realm: Realm;
  roles: ReadonlyMap<string, Role>;
  groups: ReadonlyMap<string, Group>;
  clientScopes: ReadonlyMap<string, ClientScope>;
  components: readonly Component[];
}

/** The kinds of records that a `Change` creates, replaces or removes. */
export type RecordKind =
  | 'realm'
  | 'client'
  | 'clientScope'
  | 'role'
  | 'group'
  | 'component'
  | 'user'
  | 'credential';

/**
 * One change to the configuration or the users. `create` fails if the id or the name is already in use. `put` replaces
 * an existing record, but only if it has not changed since it was read. `remove` also removes the records that depend
 * on it:
 *
 * - realm: all of its records
 * - client: its roles, service account and token families
 * - user: its credentials, sessions and login failures
 * - role: its assignments
 * - group: its subgroups and memberships
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
  /**
   * With `keep`, a realm, user, client or group moves to the bin (see `TrashStore`). With `erase`, its earlier entries
   * in the bin, and what other entries of its realm contain about a user, are removed too.
   */
  | { do: 'remove'; what: RecordKind; id: string; keep?: KeptUntil; erase?: boolean }
  /** Assigns roles to a user, or removes assigned roles. Neither reads nor writes the other data of the user. */
  | { do: 'assign' | 'unassign'; userId: string; roleIds: readonly string[] }
  | { do: 'join' | 'leave'; userId: string; groupId: string }
  /** Creates or replaces a consent, for example of an imported user. An existing consent keeps its creation date. */
  | { do: 'putConsent'; consent: Consent }
  /**
   * Ends the user's sessions as part of the change, for example when a password is set. Unfinished logins and
   * unexchanged codes end too.
   */
  | { do: 'endSessions'; userId: string; offlineToo: boolean }
  | { do: 'record'; adminEvent: AdminEvent };

/** The part of a rejection or error of `apply` that reports what the store did although it applied none of the changes. */
export interface EndedBefore {
  /** Ids of the users of whom the store ended sessions. Absent if there are none. */
  endedSessionsOf?: readonly string[];
}

/** The change would duplicate a value that must be unique. The store applied none of the changes. */
export interface Conflict extends EndedBefore {
  outcome: 'conflict';
  on:
    | `${RecordKind}.id`
    | 'realm.name'
    | 'client.clientId'
    | 'clientScope.name'
    | 'role.name'
    | 'group.name'
    | 'user.username'
    | 'user.email';
  /** The duplicate value. */
  value: string;
}

/** A change refers to a record that does not exist. The store applied none of the changes. */
export interface Missing extends EndedBefore {
  outcome: 'missing';
  what: RecordKind;
  id: string;
}

/**
 * The record that a `put` replaces has changed since it was read, or was never read (see `Revised` in model). The store
 * applied none of the changes.
 */
export interface Stale extends EndedBefore {
  outcome: 'stale';
  what: RecordKind;
  id: string;
}

export type Applied = { outcome: 'applied' } | Conflict | Missing | Stale;

/** Reads and writes realms, clients, roles, scopes, groups and components. All results are cached, frozen objects. */
export interface ConfigurationStore {
  listRealmNames(): Promise<readonly string[]>;
  /** Reports whether a realm exists, without reading it. */
  hasRealm(name: string): Promise<boolean>;
  /**
   * Reads the settings and default roles of a page of realms, by name, without caching them. Skips names that do not
   * exist. `without` lists unused settings (`settings.kept`) that the store may omit.
   */
  readRealms(
    names: readonly string[],
    without: readonly string[],
  ): Promise<ReadonlyMap<string, Pick<RealmConfiguration, 'realm' | 'roles'>>>;
  findRealm(name: string): Promise<RealmConfiguration | undefined>;
  findRealmById(id: RealmId): Promise<RealmConfiguration | undefined>;
  findClient(realmId: RealmId, clientId: ClientId): Promise<Client | undefined>;
  findClientByUuid(realmId: RealmId, id: ClientUuid): Promise<Client | undefined>;
  /** Finds many clients at once, in the order of the ids. Skips ids that do not exist. */
  findClients(realmId: RealmId, ids: readonly ClientUuid[]): Promise<readonly Client[]>;
  /** Lists the ids of all clients of a realm. Does not read the clients. */
  listClientIds(realmId: RealmId): Promise<readonly { id: ClientUuid; clientId: ClientId }[]>;
  /** Returns clients sorted by clientId. `clientId` must match exactly. `search` matches any part of it. */
  listClients(query: {
    realmId: RealmId;
    clientId?: ClientId;
    search?: string;
    first?: number;
    max?: number;
  }): Promise<readonly Client[]>;
  /**
   * Applies a list of changes to configuration and users: all of them or none. There is one exception: many sessions that
   * end, and many records that depend on a removed one, are removed in slices before the list is applied. They stay
   * removed if the store then rejects the list or throws an error, which is `EndedBefore` too.
   */
  apply(changes: readonly Change[]): Promise<Applied>;
}
