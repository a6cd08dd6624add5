import type { Client, User } from '../model/index.ts';
import type { RealmConfiguration } from './contract.ts';
import { deepFreeze } from './freeze.ts';
import type { Touched } from './sqlite/messages.ts';

/** Clients kept at most; the one unused for longest goes first. */
const CLIENTS = 10_000;
/** Users kept at most; the one read first goes first. */
const USERS = 2_000;

/** Where the cache reads what it lacks. */
export interface ConfigurationSource {
  realmByName(name: string): RealmConfiguration | undefined;
  realmById(id: string): RealmConfiguration | undefined;
  clientByName(realmId: string, clientId: string): Client | undefined;
  clientByUuid(id: string): Client | undefined;
  user(realmId: string, id: string): User | undefined;
  serviceAccount(clientUuid: string): User | undefined;
}

/**
 * Realm configurations, clients, the users behind their service accounts and some of those who refresh their
 * tokens as frozen objects, the same object until something of it changes. Absence is never remembered.
 */
export class ConfigurationCache {
  readonly #source: ConfigurationSource;
  readonly #realmsById = new Map<string, RealmConfiguration>();
  readonly #realmsByName = new Map<string, RealmConfiguration>();
  /** In order of last use. */
  readonly #clients = new Map<string, Client>();
  readonly #uuids = new Map<string, string>();
  /** By the client's UUID. Every `apply` may give or take a role, so each one empties it. */
  readonly #serviceAccounts = new Map<string, User>();
  /** Emptied like the service accounts. */
  readonly #users = new Map<string, User>();

  constructor(source: ConfigurationSource) {
    this.#source = source;
  }

  realmByName(name: string): RealmConfiguration | undefined {
    return this.#realmsByName.get(name) ?? this.#keepRealm(this.#source.realmByName(name));
  }

  realmById(id: string): RealmConfiguration | undefined {
    return this.#realmsById.get(id) ?? this.#keepRealm(this.#source.realmById(id));
  }

  clientByName(realmId: string, clientId: string): Client | undefined {
    const uuid = this.#uuids.get(nameKey(realmId, clientId));
    if (uuid !== undefined) return this.#use(uuid);
    const read = this.#source.clientByName(realmId, clientId);
    return read === undefined ? undefined : (this.#clients.get(read.id) ?? this.#keepClient(read));
  }

  clientByUuid(realmId: string, id: string): Client | undefined {
    const client = this.#clients.has(id) ? this.#use(id) : this.#keepClient(this.#source.clientByUuid(id));
    return client?.realmId === realmId ? client : undefined;
  }

  serviceAccount(clientUuid: string): User | undefined {
    const known = this.#serviceAccounts.get(clientUuid);
    if (known !== undefined) return known;
    const read = this.#source.serviceAccount(clientUuid);
    if (read === undefined) return undefined;
    if (this.#serviceAccounts.size >= CLIENTS) this.#serviceAccounts.clear();
    this.#serviceAccounts.set(clientUuid, deepFreeze(read));
    return read;
  }

  user(realmId: string, id: string): User | undefined {
    const known = this.#users.get(id);
    if (known !== undefined) return known.realmId === realmId ? known : undefined;
    const read = this.#source.user(realmId, id);
    if (read === undefined) return undefined;
    if (this.#users.size >= USERS) this.#users.delete(this.#users.keys().next().value!);
    this.#users.set(id, deepFreeze(read));
    return read;
  }

  forget(touched: Touched): void {
    this.#serviceAccounts.clear();
    this.#users.clear();
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

  #keepRealm(read: RealmConfiguration | undefined): RealmConfiguration | undefined {
    if (read === undefined) return undefined;
    const { realm, components } = read;
    deepFreeze(realm);
    deepFreeze(components);
    for (const records of [read.roles, read.groups, read.clientScopes])
      for (const record of records.values()) deepFreeze(record);
    Object.freeze(read);
    this.#realmsById.set(realm.id, read);
    this.#realmsByName.set(realm.name, read);
    return read;
  }

  #keepClient(read: Client | undefined): Client | undefined {
    if (read === undefined) return undefined;
    this.#clients.set(read.id, deepFreeze(read));
    this.#uuids.set(nameKey(read.realmId, read.clientId), read.id);
    if (this.#clients.size > CLIENTS) this.#dropClient(this.#clients.keys().next().value!);
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

function nameKey(realmId: string, clientId: string): string {
  return `${realmId}\n${clientId}`;
}
