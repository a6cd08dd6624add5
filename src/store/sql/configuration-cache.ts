import type { Client, ClientId, ClientUuid, RealmId, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import { freezeDeeply } from '../records/realm-rows.ts';
import type { Answer } from '../schema.ts';
import type { Touched } from '../verbs/touched.ts';
import { RealmCache, type RealmLimits, type RealmSource } from './realm-cache.ts';
import { SharedReads } from './shared-reads.ts';

/** Maximum number of cached clients. The least recently used client is dropped first. */
const CLIENTS = 10_000;
/** Maximum number of cached users. The user that was read first is dropped first. */
const USERS = 2_000;

/** The source from which the cache reads missing entries. */
export interface ConfigurationSource extends RealmSource {
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
  readonly #realms: RealmCache;
  readonly #reads = new SharedReads();
  /** Sorted by last use. */
  readonly #clients = new Map<string, Client>();
  readonly #uuids = new Map<string, string>();
  /** Service accounts by the UUID of their client. */
  readonly #serviceAccounts = new Map<string, User>();
  /** Users by their id. */
  readonly #users = new Map<string, User>();

  /** Increases whenever a realm or a client may have changed. */
  version = 0;

  constructor(source: ConfigurationSource, limits?: RealmLimits) {
    this.#source = source;
    this.#realms = new RealmCache(source, limits);
  }

  realmByName(name: string): Answer<RealmConfiguration | undefined> {
    return this.#realms.byName(name);
  }

  realmById(id: RealmId): Answer<RealmConfiguration | undefined> {
    return this.#realms.byId(id);
  }

  clientByName(realmId: RealmId, clientId: ClientId): Answer<Client | undefined> {
    const name = nameKey(realmId, clientId);
    const uuid = this.#uuids.get(name);
    if (uuid !== undefined) return this.#use(uuid);
    return this.#reads.read<Client>(`client ${name}`, {
      isAffectedBy: ({ clients, clientsOf }) => clients.length > 0 || clientsOf.includes(realmId),
      read: () => this.#source.clientByName(realmId, clientId),
      keep: (client, changes) => this.#keepClient(client, changes),
      again: () => this.clientByName(realmId, clientId),
    });
  }

  clientByUuid(realmId: RealmId, id: ClientUuid): Answer<Client | undefined> {
    const ofRealm = (client: Client | undefined) => (client?.realmId === realmId ? client : undefined);
    if (this.#clients.has(id)) return ofRealm(this.#use(id));
    const read = this.#reads.read<Client>(`client id ${id}`, {
      isAffectedBy: ({ clients, clientsOf }) => clients.includes(id) || clientsOf.length > 0,
      read: () => this.#source.clientByUuid(id),
      keep: (client, changes) => this.#keepClient(client, changes),
      again: () => this.clientByUuid(realmId, id),
    });
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
    return this.#reads.read<User>(`service account ${clientUuid}`, {
      isAffectedBy: changesUsers,
      read: () => this.#source.serviceAccount(clientUuid),
      keep: (user, changes) => keep(this.#serviceAccounts, CLIENTS, clientUuid, user, changes),
      again: () => this.serviceAccount(clientUuid),
    });
  }

  user(realmId: RealmId, id: string): Answer<User | undefined> {
    const known = this.#users.get(id);
    if (known !== undefined) return known.realmId === realmId ? known : undefined;
    return this.#reads.read<User>(`user ${realmId} ${id}`, {
      isAffectedBy: changesUsers,
      read: () => this.#source.user(realmId, id),
      keep: (user, changes) => keep(this.#users, USERS, id, user, changes),
      again: () => this.user(realmId, id),
    });
  }

  /** Drops what has changed. If this is unknown, drops all entries. */
  forget(touched: Touched | undefined): void {
    if (touched === undefined) {
      this.forgetAll();
      return;
    }
    const { realms, clients, clientsOf } = touched;
    this.#realms.forget(touched);
    this.#reads.change(touched);
    forgetUsers(this.#serviceAccounts, touched);
    forgetUsers(this.#users, touched);
    if (realms.length + clients.length + clientsOf.length > 0) this.version++;
    for (const id of clients) this.#dropClient(id);
    if (clientsOf.length === 0) return;
    const emptied = new Set(clientsOf);
    for (const client of [...this.#clients.values()])
      if (emptied.has(client.realmId)) this.#dropClient(client.id);
  }

  /** Drops all entries, because the store may have missed changes of other stores. */
  forgetAll(): void {
    this.version++;
    this.#reads.lose();
    this.#realms.forgetAll();
    for (const map of [this.#clients, this.#uuids, this.#serviceAccounts, this.#users]) map.clear();
  }

  /** Caches the client, unless a parallel read has done so. Returns the cached object. */
  #keepClient(read: Client, changes: readonly Touched[]): Client {
    const known = this.#clients.get(read.id);
    if (known !== undefined) return known;
    freezeDeeply(read);
    if (changes.some((one) => one.clients.includes(read.id) || one.clientsOf.includes(read.realmId)))
      return read;
    this.#clients.set(read.id, read);
    this.#uuids.set(nameKey(read.realmId, read.clientId), read.id);
    if (this.#clients.size > CLIENTS) this.#dropClient(oldestOf(this.#clients));
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

/** Caches a user, unless the user changed during the read. */
function keep(
  cached: Map<string, User>,
  most: number,
  key: string,
  user: User,
  changes: readonly Touched[],
): User {
  freezeDeeply(user);
  if (changes.some((touched) => changesUser(user, touched))) return user;
  if (cached.size >= most) cached.delete(oldestOf(cached));
  cached.set(key, user);
  return user;
}

function forgetUsers(cached: Map<string, User>, touched: Touched): void {
  if (!changesUsers(touched)) return;
  if (touched.users === undefined || touched.usersOf === undefined) {
    cached.clear();
    return;
  }
  const users = new Set(touched.users);
  const realms = new Set(touched.usersOf);
  for (const [key, { id, realmId }] of cached) if (users.has(id) || realms.has(realmId)) cached.delete(key);
}

function changesUsers({ users, usersOf }: Touched): boolean {
  return users === undefined || usersOf === undefined || users.length + usersOf.length > 0;
}

function changesUser({ id, realmId }: User, { users, usersOf }: Touched): boolean {
  return users === undefined || usersOf === undefined || users.includes(id) || usersOf.includes(realmId);
}

/** Returns the key that was added first. */
function oldestOf(map: ReadonlyMap<string, unknown>): string {
  return map.keys().next().value ?? '';
}

function nameKey(realmId: RealmId, clientId: ClientId): string {
  return `${realmId}\n${clientId}`;
}
