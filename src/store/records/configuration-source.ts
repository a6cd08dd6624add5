import type { Client, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import type { Answer, Row, Tables } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import type { ConfigurationSource } from '../sql/configuration-cache.ts';
import { all, get, type Steps } from '../verbs/steps.ts';
import {
  readClient,
  readClientScope,
  readComponent,
  readGroup,
  readRealm,
  readRole,
} from './configuration.ts';
import { toUser } from './read-rows.ts';

/** How a driver reads. */
export interface ReadSteps {
  /** Steps of one statement. They may be made and run more than once. */
  one<T>(steps: () => Steps<T>): Answer<T>;
  /** All statements see the same moment. */
  snapshot<T>(steps: () => Steps<T>): Answer<T>;
}

/** Reads configuration; each answer is of one snapshot. */
export function configurationSource(keyring: Keyring, read: ReadSteps): ConfigurationSource {
  return {
    realmByName: (name) => read.snapshot(() => realmSteps('realm.byName', { name }, keyring)),
    realmById: (id) => read.snapshot(() => realmSteps('realm.byId', { id }, keyring)),
    clientByName: (realmId, clientId) =>
      read.one(() => clientSteps('client.byName', { realm_id: realmId, client_id: clientId }, keyring)),
    clientByUuid: (id) => read.one(() => clientSteps('client.byId', { id }, keyring)),
    user: (realmId, id) => read.one(() => userSteps('user.find', { realm_id: realmId, id })),
    serviceAccount: (clientUuid) => read.one(() => userSteps('user.ofClient', { client_uuid: clientUuid })),
  };
}

function* clientSteps(query: string, values: Row, keyring: Keyring): Steps<Client | undefined> {
  const row = yield* get(query, values);
  return row === undefined ? undefined : readClient(row as Tables['client'], keyring);
}

function* userSteps(query: string, values: Row): Steps<User | undefined> {
  const row = yield* get(query, values);
  return row === undefined ? undefined : toUser(row);
}

function* realmSteps(query: string, values: Row, keyring: Keyring): Steps<RealmConfiguration | undefined> {
  const row = yield* get(query, values);
  if (row === undefined) return undefined;
  function* rows<T extends keyof Tables>(table: T): Steps<Tables[T][]> {
    return (yield* all(`${table}.byRealm`, { realm_id: row!['id'] })) as unknown as Tables[T][];
  }
  return {
    realm: readRealm(row as Tables['realm'], keyring),
    roles: byId((yield* rows('role')).map(readRole)),
    groups: byId((yield* rows('realm_group')).map(readGroup)),
    clientScopes: byId((yield* rows('client_scope')).map(readClientScope)),
    components: (yield* rows('component')).map((component) => readComponent(component, keyring)),
  };
}

function byId<T extends { id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
