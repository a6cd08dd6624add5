import type { Client, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../contract/index.ts';
import type { SlotsOf } from '../queries/compiled/types.ts';
import type { Answer } from '../schema.ts';
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
import { readUser } from './users.ts';

/** The functions with which a driver runs reads. */
export interface ReadSteps {
  /** Runs a read of one statement. May call `steps` again to repeat the read. */
  one<T>(steps: () => Steps<T>): Answer<T>;
  /** Runs a read of several statements in one snapshot. */
  snapshot<T>(steps: () => Steps<T>): Answer<T>;
}

/** Returns functions that read configuration. Each call reads one snapshot. */
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

type ClientQuery = 'client.byName' | 'client.byId';

function* clientSteps<Q extends ClientQuery>(
  query: Q,
  values: SlotsOf<Q>,
  keyring: Keyring,
): Steps<Client | undefined> {
  const row = yield* get<ClientQuery>(query, values);
  return row === undefined ? undefined : readClient(row, keyring);
}

type UserQuery = 'user.find' | 'user.ofClient';

function* userSteps<Q extends UserQuery>(query: Q, values: SlotsOf<Q>): Steps<User | undefined> {
  const row = yield* get<UserQuery>(query, values);
  return row === undefined ? undefined : readUser(row);
}

type RealmQuery = 'realm.byName' | 'realm.byId';

function* realmSteps<Q extends RealmQuery>(
  query: Q,
  values: SlotsOf<Q>,
  keyring: Keyring,
): Steps<RealmConfiguration | undefined> {
  const row = yield* get<RealmQuery>(query, values);
  if (row === undefined) return undefined;
  const ofRealm = { realm_id: row.id };
  const components = yield* all('component.byRealm', ofRealm);
  return {
    realm: readRealm(row, keyring),
    roles: byId((yield* all('role.byRealm', ofRealm)).map(readRole)),
    groups: byId((yield* all('realm_group.byRealm', ofRealm)).map(readGroup)),
    clientScopes: byId((yield* all('client_scope.byRealm', ofRealm)).map(readClientScope)),
    components: components.map((component) => readComponent(component, keyring)),
  };
}

function byId<T extends { id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]));
}
