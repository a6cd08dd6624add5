import type { DatabaseSync } from 'node:sqlite';
import type { Client } from '../../model/index.ts';
import type { ConfigurationSource } from '../configuration-cache.ts';
import type { RealmConfiguration } from '../contract.ts';
import {
  readClient,
  readClientScope,
  readComponent,
  readGroup,
  readRealm,
  readRole,
} from '../records/configuration.ts';
import type { Tables } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { toUser } from './read-rows.ts';
import type { Row, Statements } from './statements.ts';

/** Reads configuration on the main thread's own connection; each answer is of one snapshot. */
export function configurationSource(sql: Statements, keyring: Keyring): ConfigurationSource {
  const realm = (row: Row | undefined): RealmConfiguration | undefined =>
    row === undefined ? undefined : readRealmConfiguration(sql, row, keyring);
  const client = (row: Row | undefined): Client | undefined =>
    row === undefined ? undefined : readClient(row as Tables['client'], keyring);
  return {
    realmByName: (name) => inSnapshot(sql.database, () => realm(sql.get('realm.byName', { name }))),
    realmById: (id) => inSnapshot(sql.database, () => realm(sql.get('realm.byId', { id }))),
    clientByName: (realmId, clientId) =>
      client(sql.get('client.byName', { realm_id: realmId, client_id: clientId })),
    clientByUuid: (id) => client(sql.get('client.byId', { id })),
    user: (realmId, id) => {
      const row = sql.get('user.find', { realm_id: realmId, id });
      return row === undefined ? undefined : toUser(row);
    },
    serviceAccount: (clientUuid) => {
      const row = sql.get('user.ofClient', { client_uuid: clientUuid });
      return row === undefined ? undefined : toUser(row);
    },
  };
}

function readRealmConfiguration(sql: Statements, row: Row, keyring: Keyring): RealmConfiguration {
  const rows = <T extends keyof Tables>(table: T) =>
    sql.all(`${table}.byRealm`, { realm_id: row['id'] }) as unknown as Tables[T][];
  const byId = <T extends { id: string }>(records: readonly T[]): ReadonlyMap<string, T> =>
    new Map(records.map((record) => [record.id, record]));
  return {
    realm: readRealm(row as Tables['realm'], keyring),
    roles: byId(rows('role').map(readRole)),
    groups: byId(rows('realm_group').map(readGroup)),
    clientScopes: byId(rows('client_scope').map(readClientScope)),
    components: rows('component').map((component) => readComponent(component, keyring)),
  };
}

function inSnapshot<T>(database: DatabaseSync, read: () => T): T {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    database.exec('COMMIT');
  }
}
