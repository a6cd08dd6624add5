import type { Client, ClientId, ClientUuid, RealmId, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import type { Answer } from '../schema.ts';
import type { Touched } from '../verbs/verbs.ts';

/** Maximum number of cached clients. The least recently used client is dropped first. */
const CLIENTS = 10_000;
/** Maximum number of cached users. The user that was read first is dropped first. */
const USERS = 2_000;

/** The source from which the cache reads missing entries. */
export interface ConfigurationSource {
  realmByName(name: string): Answer<RealmConfiguration | undefined>;
  realmById(id: RealmId): Answer<RealmConfiguration | undefined>;
  clientByName(realmId: RealmId, clientId: ClientId): Answer<Client | undefined>;
  clientByUuid(id: ClientUuid): Answer<Client | undefined>;
  user(realmId: RealmId, id: string): Answer<User | undefined>;
  serviceAccount(clientUuid: ClientUuid): Answer<User | undefined>;
}

/**
 * Caches realm configurations, clients, service accounts, and users who refresh tokens. Entries are frozen, and the
 * cache returns the same object until a part of it changes. The absence of a record is not cached.
 */
export class ConfigurationCache {
  readonly #source: ConfigurationSource;
  readonly #realmsById = new Map<string, RealmConfiguration>();
  readonly #realmsByName = new Map<string, RealmConfiguration>();
  /** Sorted by last use. */
  readonly #clients = new Map<string, Client>();
  readonly #uuids = new Map<string, string>();
  /**
   * Service accounts by the UUID of their client. Every `apply` clears them, because it may assign or remove a role.
   */
  readonly #serviceAccounts = new Map<string, User>();
  /** Users by their id. Every `apply` clears them too. */
  readonly #users = new Map<string, User>();

  /** Increases whenever a realm or a client may have changed. */
  version = 0;

  /** Reads in progress. Whenever an entry is dropped, a new map replaces this one. */
  #reads = new Map<string, Promise<unknown>>();

  constructor(source: ConfigurationSource) {
    this.#source = source;
  }

  realmByName(name: string): Answer<RealmConfiguration | undefined> {
    const known = this.#realmsByName.get(name);
    if (known !== undefined) return known;
    return this.#read(
      `realm ${name}`,
      () => this.#source.realmByName(name),
      (realm) => this.#keepRealm(realm),
    );
  }

  realmById(id: RealmId): Answer<RealmConfiguration | undefined> {
    const known = this.#realmsById.get(id);
    if (known !== undefined) return known;
    return this.#read(
      `realm id ${id}`,
      () => this.#source.realmById(id),
      (realm) => this.#keepRealm(realm),
    );
  }

  clientByName(realmId: RealmId, clientId: ClientId): Answer<Client | undefined> {
    const name = nameKey(realmId, clientId);
    const uuid = this.#uuids.get(name);
    if (uuid !== undefined) return this.#use(uuid);
    return this.#read(
      `client ${name}`,
      () => this.#source.clientByName(realmId, clientId),
      (client) => this.#keepClient(client),
    );
  }

  clientByUuid(realmId: RealmId, id: ClientUuid): Answer<Client | undefined> {
    const ofRealm = (client: Client | undefined) => (client?.realmId === realmId ? client : undefined);
    if (this.#clients.has(id)) return ofRealm(this.#use(id));
    const read = this.#read(
      `client id ${id}`,
      () => this.#source.clientByUuid(id),
      (client) => this.#keepClient(client),
    );
    return read instanceof Promise ? read.then(ofRealm) : ofRealm(read);
  }

  /** Returns a client if it is cached. */
  cachedClient(realmId: RealmId, id: ClientUuid): Client | undefined {
    const client = this.#use(id);
    return client?.realmId === realmId ? client : undefined;
  }

  serviceAccount(clientUuid: ClientUuid): Answer<User | undefined> {
    const known = this.#serviceAccounts.get(clientUuid);
    if (known !== undefined) return known;
    return this.#read(
      `service account ${clientUuid}`,
      () => this.#source.serviceAccount(clientUuid),
      (user) => this.#keepServiceAccount(clientUuid, user),
    );
  }

  user(realmId: RealmId, id: string): Answer<User | undefined> {
    const known = this.#users.get(id);
    if (known !== undefined) return known.realmId === realmId ? known : undefined;
    return this.#read(
      `user ${realmId} ${id}`,
      () => this.#source.user(realmId, id),
      (user) => this.#keepUser(user),
    );
  }

  forget(touched: Touched): void {
    this.#endReads();
    this.#serviceAccounts.clear();
    this.#users.clear();
    if (touched.realms.length + touched.clients.length + touched.clientsOf.length > 0) this.version++;
    for (const id of touched.realms) {
      const known = this.#realmsById.get(id);
      this.#realmsById.delete(id);
      if (known !== undefined) this.#realmsByName.delete(known.realm.name);
    }
    for (const id of touched.clients) this.#dropClient(id);
    if (touched.clientsOf.length === 0) return;
    const realms = new Set(touched.clientsOf);
    for (const client of [...this.#clients.values()])
      if (realms.has(client.realmId)) this.#dropClient(client.id);
  }

  /** Drops all entries, because the store may have missed changes of other stores. */
  forgetAll(): void {
    this.version++;
    this.#endReads();
    for (const map of [this.#realmsById, this.#realmsByName, this.#clients, this.#uuids]) map.clear();
    this.#serviceAccounts.clear();
    this.#users.clear();
  }

  /**
   * Reads a missing entry. Callers share a read in progress. The result is not cached if anything changed meanwhile.
   */
  #read<T extends object>(
    key: string,
    read: () => Answer<T | undefined>,
    keep: (value: T) => T,
  ): Answer<T | undefined> {
    const running = this.#reads.get(key) as Promise<T | undefined> | undefined;
    if (running !== undefined) return running;
    const answer = read();
    if (!(answer instanceof Promise)) return answer === undefined ? undefined : keep(deepFreeze(answer));
    const reads = this.#reads;
    const kept = answer.then((value) => {
      if (value === undefined) return undefined;
      return reads === this.#reads ? keep(deepFreeze(value)) : deepFreeze(value);
    });
    const shared = kept.finally(() => reads.delete(key));
    reads.set(key, shared);
    return shared;
  }

  /** Ensures that later calls do not receive the result of a read that has already started. */
  #endReads(): void {
    if (this.#reads.size > 0) this.#reads = new Map();
  }

  #keepRealm(read: RealmConfiguration): RealmConfiguration {
    this.#realmsById.set(read.realm.id, read);
    this.#realmsByName.set(read.realm.name, read);
    return read;
  }

  /** Caches the client, unless a parallel read has done so. Returns the cached object. */
  #keepClient(read: Client): Client {
    const known = this.#clients.get(read.id);
    if (known !== undefined) return known;
    this.#clients.set(read.id, read);
    this.#uuids.set(nameKey(read.realmId, read.clientId), read.id);
    if (this.#clients.size > CLIENTS) this.#dropClient(oldestOf(this.#clients));
    return read;
  }

  #keepServiceAccount(clientUuid: ClientUuid, read: User): User {
    if (this.#serviceAccounts.size >= CLIENTS) this.#serviceAccounts.clear();
    this.#serviceAccounts.set(clientUuid, read);
    return read;
  }

  #keepUser(read: User): User {
    if (this.#users.size >= USERS) this.#users.delete(oldestOf(this.#users));
    this.#users.set(read.id, read);
    return read;
  }

  #use(id: string): Client | undefined {
    const client = this.#clients.get(id);
    if (client === undefined) return undefined;
    this.#clients.delete(id);
    this.#clients.set(id, client);
    return client;
  }

  #dropClient(id: string): void {
    const client = this.#clients.get(id);
    if (client === undefined) return;
    this.#clients.delete(id);
    this.#uuids.delete(nameKey(client.realmId, client.clientId));
  }
}

/** Returns the key that was added first. */
function oldestOf(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? '';
}

function nameKey(realmId: RealmId, clientId: ClientId): string {
  return `${realmId}\n${clientId}`;
}

/** Freezes plain objects, arrays and the values of maps recursively. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
