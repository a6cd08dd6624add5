import type { Client, User } from '../../model/index.ts';
import type { SlotsOf } from '../queries/compiled/types.ts';
import type { Answer } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import type { ConfigurationSource } from '../sql/configuration-cache.ts';
import type { ReadRealm, RealmParts } from '../sql/realm-cache.ts';
import { all, get, getEach, type Steps } from '../verbs/steps.ts';
import { readClient } from './configuration.ts';
import { type ChangedRows, type RealmRows, toRealm, withChanges } from './realm-rows.ts';
import { readUser } from './users.ts';

/** The functions with which a driver runs reads. */
export interface ReadSteps {
  /** Runs a read of one statement. May call `steps` again to repeat the read. */
  one<T>(steps: () => Steps<T>): Answer<T>;
  /** Runs a read of several statements in one snapshot. */
  snapshot<T>(steps: () => Steps<T>): Answer<T>;
  /** Reads the rows of a realm in one snapshot. A realm can have tens of thousands. */
  realm(find: RealmKey): Answer<RealmRows | undefined>;
}

/** The name or the id of a realm. */
export type RealmKey = { name: string } | { id: string };

/** Returns functions that read configuration. Each call reads one snapshot. */
export function configurationSource(keyring: Keyring, read: ReadSteps): ConfigurationSource {
  const whole = (find: RealmKey): Answer<ReadRealm | undefined> =>
    onceRead(read.realm(find), (rows) => toRealm(rows, keyring));
  return {
    realmByName: (name) => whole({ name }),
    realmById: (id) => whole({ id }),
    refreshRealm: (known, parts) =>
      onceRead(
        read.snapshot(() => changedSteps(known.configuration.realm.id, parts)),
        (rows) => withChanges(known, parts, rows, keyring),
      ),
    clientByName: (realmId, clientId) =>
      read.one(() => clientSteps('client.byName', { realm_id: realmId, client_id: clientId }, keyring)),
    clientByUuid: (id) => read.one(() => clientSteps('client.byId', { id }, keyring)),
    user: (realmId, id) => read.one(() => userSteps('user.find', { realm_id: realmId, id })),
    serviceAccount: (clientUuid) => read.one(() => userSteps('user.ofClient', { client_uuid: clientUuid })),
  };
}

function onceRead<R, T>(read: Answer<R | undefined>, convert: (rows: R) => Answer<T>): Answer<T | undefined> {
  const converted = (rows: R | undefined) => (rows === undefined ? undefined : convert(rows));
  return read instanceof Promise ? read.then(converted) : converted(read);
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

/** Reads all rows of a realm. */
export function* realmSteps(find: RealmKey): Steps<RealmRows | undefined> {
  const realm = 'id' in find ? yield* get('realm.byId', find) : yield* get('realm.byName', find);
  if (realm === undefined) return undefined;
  const ofRealm = { realm_id: realm.id };
  return {
    realm,
    component: yield* all('component.byRealm', ofRealm),
    role: yield* all('role.byRealm', ofRealm),
    realm_group: yield* all('realm_group.byRealm', ofRealm),
    client_scope: yield* all('client_scope.byRealm', ofRealm),
  };
}

/** Reads the changed parts of a realm. Returns undefined if the realm does not exist. */
function* changedSteps(id: string, parts: RealmParts): Steps<ChangedRows | undefined> {
  const realm = yield* get('realm.byId', { id });
  if (realm === undefined) return undefined;
  const rows: ChangedRows = {};
  if (parts.has('realm')) rows.realm = realm;
  if (parts.has('component')) rows.component = yield* all('component.byRealm', { realm_id: id });
  for (const table of ['role', 'realm_group', 'client_scope'] as const) {
    const ids = parts.get(table);
    if (ids === undefined) continue;
    const found = yield* getEach([...ids].map((part) => [`${table}.byId`, { id: part }] as const));
    Object.assign(rows, { [table]: found.filter((row) => row?.realm_id === id) });
  }
  return rows;
}
