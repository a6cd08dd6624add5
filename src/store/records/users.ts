import { createHmac } from 'node:crypto';
import type { Credential, LoginFailures, User } from '../../model/index.ts';
import type { ListedUser } from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { AccountRow, Tables } from '../schema.ts';
import type { Keyring } from '../sealing/keyring.ts';
import { sealSecrets, unsealSecrets } from '../sealing/seal.ts';
import { readAs, type Sealing } from './configuration.ts';

export function accountRow(user: User): AccountRow {
  const { id, realmId, username, email, emailVerified, enabled, serviceAccountClientUuid, ...rest } = user;
  const { roleIds: _, groupIds: __, ...doc } = rest;
  return {
    id,
    realm_id: realmId,
    username,
    email: email ?? null,
    first_name: user.firstName?.toLowerCase() ?? null,
    last_name: user.lastName?.toLowerCase() ?? null,
    enabled: enabled ? 1 : 0,
    email_verified: emailVerified ? 1 : 0,
    service_account_client: serviceAccountClientUuid ?? null,
    doc: JSON.stringify(doc),
  };
}

export function readUser(row: RowOf<'user.find'>): User {
  const user: User = {
    id: row.id,
    realmId: row.realm_id,
    username: row.username,
    emailVerified: row.email_verified === 1,
    enabled: row.enabled === 1,
    ...JSON.parse(row.doc),
    roleIds: JSON.parse(row.role_ids),
    groupIds: JSON.parse(row.group_ids),
    ...readAs(row),
  };
  if (row.email !== null) user.email = row.email;
  if (row.service_account_client !== null) user.serviceAccountClientUuid = row.service_account_client;
  return user;
}

/** @param withOtp false if the query did not select the one-time passwords */
export function readListedUser(row: RowOf<'user.listed'>, withOtp: boolean): ListedUser {
  const user: ListedUser = {
    id: row.id,
    username: row.username,
    emailVerified: row.email_verified === 1,
    enabled: row.enabled === 1,
    ...JSON.parse(row.doc),
    ...(withOtp
      ? { hasOtp: row.otp_docs !== '[]' && (JSON.parse(row.otp_docs) as string[]).some(isOtp) }
      : {}),
  };
  if (row.email !== null) user.email = row.email;
  return user;
}

function isOtp(doc: string): boolean {
  return (JSON.parse(doc) as Pick<Credential, 'type'>).type === 'otp';
}

export function credentialRow(credential: Credential, { keyring, random }: Sealing): Tables['credential'] {
  const { id, userId, priority, secretData, secrets, ...doc } = credential;
  const sealed = sealSecrets(secrets, `credential:${id}`, keyring, random);
  return { id, user_id: userId, priority, secret_data: secretData ?? null, doc: JSON.stringify(doc), sealed };
}

export function readCredential(row: Tables['credential'], keyring: Keyring): Credential {
  const credential: Credential = {
    id: row.id,
    userId: row.user_id,
    priority: row.priority,
    ...JSON.parse(row.doc),
    secrets: unsealSecrets(row.sealed, `credential:${row.id}`, keyring),
    ...readAs(row),
  };
  if (row.secret_data !== null) credential.secretData = row.secret_data;
  return credential;
}

export function readLoginFailures(row: Tables['login_failures']): LoginFailures {
  return { ...JSON.parse(row.doc), realmId: row.realm_id, userId: row.user_id, revision: row.revision };
}

/**
 * Maps a name to a pseudorandom user id, which selects the user with the next higher id. Without the master key, nobody
 * can predict the id.
 */
export function pickPlace({ current }: Keyring, realmId: string, name: string): string {
  const key = createHmac('sha256', current.bytes).update('idkit place of a name').digest();
  const hex = createHmac('sha256', key).update(`${realmId} ${name}`).digest('hex');
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => hex.slice(ends[index - 1] ?? 0, end)).join('-');
}
