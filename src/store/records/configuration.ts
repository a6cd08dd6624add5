import type { Random } from '../../core/index.ts';
import {
  type Client,
  type ClientScope,
  type Component,
  type Group,
  REVISION,
  type Realm,
  type Revised,
  type Role,
} from '../../model/index.ts';
import type { Row, Tables } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { sealSecrets, unsealSecrets } from '../sealing/seal.ts';
import { revisionOf } from './revision.ts';

/**
 * The master keys and the randomness that the conversion of records to rows needs. A row has columns for queries, `doc`
 * for all other fields, and one encrypted blob for secrets.
 */
export interface Sealing {
  keyring: Keyring;
  random: Random;
}

export function realmRow(realm: Realm, { keyring, random }: Sealing): Tables['realm'] {
  const { id, name, secrets, ...doc } = realm;
  const sealed = sealSecrets(secrets, `realm:${id}`, keyring, random);
  return { id, name, doc: JSON.stringify(doc), sealed };
}

export function readRealm(row: Tables['realm'], keyring: Keyring): Realm {
  const { id, name } = row;
  return {
    id,
    name,
    ...JSON.parse(row.doc),
    secrets: unsealSecrets(row.sealed, `realm:${id}`, keyring),
    ...readAs(row),
  };
}

export function clientRow(client: Client, { keyring, random }: Sealing): Tables['client'] {
  const { id, realmId, clientId, secrets, ...doc } = client;
  const sealed = sealSecrets(secrets, `client:${id}`, keyring, random);
  return { id, realm_id: realmId, client_id: clientId, doc: JSON.stringify(doc), sealed };
}

export function readClient(row: Tables['client'], keyring: Keyring): Client {
  return {
    id: row.id,
    realmId: row.realm_id,
    clientId: row.client_id,
    ...JSON.parse(row.doc),
    secrets: unsealSecrets(row.sealed, `client:${row.id}`, keyring),
    ...readAs(row),
  };
}

export function componentRow(component: Component, { keyring, random }: Sealing): Tables['component'] {
  const { id, realmId, secrets, ...doc } = component;
  const sealed = sealSecrets(secrets, `component:${id}`, keyring, random);
  return { id, realm_id: realmId, doc: JSON.stringify(doc), sealed };
}

export function readComponent(row: Tables['component'], keyring: Keyring): Component {
  return {
    id: row.id,
    realmId: row.realm_id,
    ...JSON.parse(row.doc),
    secrets: unsealSecrets(row.sealed, `component:${row.id}`, keyring),
    ...readAs(row),
  };
}

export function clientScopeRow(scope: ClientScope): Tables['client_scope'] {
  const { id, realmId, name, ...doc } = scope;
  return { id, realm_id: realmId, name, doc: JSON.stringify(doc) };
}

export function readClientScope(row: Tables['client_scope']): ClientScope {
  return { id: row.id, realmId: row.realm_id, name: row.name, ...JSON.parse(row.doc), ...readAs(row) };
}

export function roleRow(role: Role): Tables['role'] {
  const { id, realmId, name, clientUuid, ...doc } = role;
  return { id, realm_id: realmId, client_uuid: clientUuid ?? null, name, doc: JSON.stringify(doc) };
}

export function readRole(row: Tables['role']): Role {
  const role: Role = {
    id: row.id,
    realmId: row.realm_id,
    name: row.name,
    ...JSON.parse(row.doc),
    ...readAs(row),
  };
  if (row.client_uuid !== null) role.clientUuid = row.client_uuid;
  return role;
}

export function groupRow(group: Group): Tables['realm_group'] {
  const { id, realmId, name, parentId, ...doc } = group;
  return { id, realm_id: realmId, parent_id: parentId ?? null, name, doc: JSON.stringify(doc) };
}

export function readGroup(row: Tables['realm_group']): Group {
  const group: Group = {
    id: row.id,
    realmId: row.realm_id,
    name: row.name,
    ...JSON.parse(row.doc),
    ...readAs(row),
  };
  if (row.parent_id !== null) group.parentId = row.parent_id;
  return group;
}

/** Returns the revision of a record, as a property to add to the record. */
export function readAs(row: Readonly<Row>): Revised {
  return { [REVISION]: revisionOf(row) };
}
