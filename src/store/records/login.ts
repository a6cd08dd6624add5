import type { AuthenticationSession, AuthorizationCode, Consent, FamilyId } from '../../model/index.ts';
import type { AuthenticationSessionRow, CodeRow, ConsentRow } from '../schema.ts';
import { buffer } from './sessions.ts';

/**
 * The row of a new code. `hash` is text with one character per byte, because sending text to another thread is cheaper.
 */
export type NewCodeRow = Omit<CodeRow, 'state' | 'hash'> & { hash: string };

/**
 * The row of a new authentication session. `browser_hash` is text with one character per byte, because sending text to
 * another thread is cheaper.
 */
export type NewAuthenticationRow = Omit<AuthenticationSessionRow, 'browser_hash'> & { browser_hash: string };

/** Returns the row of an authentication session. `doc` contains the fields that queries do not use. */
export function authenticationRow(session: AuthenticationSession): NewAuthenticationRow {
  const { id, realmId, clientUuid, browserHash, revision, expiresAt, userId, ...doc } = session;
  return {
    id,
    realm_id: realmId,
    client_uuid: clientUuid,
    user_id: userId ?? null,
    browser_hash: browserHash.toString('latin1'),
    revision,
    expires_at: expiresAt,
    doc: JSON.stringify(doc),
  };
}

export function readAuthentication(row: AuthenticationSessionRow): AuthenticationSession {
  const session: AuthenticationSession = {
    id: row.id,
    realmId: row.realm_id,
    clientUuid: row.client_uuid,
    browserHash: buffer(row.browser_hash),
    revision: row.revision,
    expiresAt: row.expires_at,
    ...JSON.parse(row.doc),
  };
  if (row.user_id !== null) session.userId = row.user_id;
  return session;
}

export function codeRow(code: AuthorizationCode): NewCodeRow {
  const { hash, realmId, clientUuid, userId, sessionId, familyId, issuedAt, expiresAt, ...doc } = code;
  return {
    hash: hash.toString('latin1'),
    realm_id: realmId,
    client_uuid: clientUuid,
    user_id: userId,
    session_id: sessionId,
    family_id: familyId,
    issued_at: issuedAt,
    expires_at: expiresAt,
    doc: JSON.stringify(doc),
  };
}

/** @param hash the hash with which the query found the row */
export function readCode(row: Omit<CodeRow, 'hash'>, hash: Buffer): AuthorizationCode {
  return {
    hash,
    realmId: row.realm_id,
    clientUuid: row.client_uuid,
    userId: row.user_id,
    sessionId: row.session_id,
    familyId: row.family_id,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    ...JSON.parse(row.doc),
  };
}

export function consentRow(consent: Consent): ConsentRow {
  return {
    user_id: consent.userId,
    client_uuid: consent.clientUuid,
    scope_ids: JSON.stringify(consent.scopeIds),
    created_date: consent.createdDate,
    last_updated_date: consent.lastUpdatedDate,
  };
}

export function readConsent(row: ConsentRow): Consent {
  return {
    userId: row.user_id,
    clientUuid: row.client_uuid,
    scopeIds: JSON.parse(row.scope_ids),
    createdDate: row.created_date,
    lastUpdatedDate: row.last_updated_date,
  };
}

/**
 * Returns the name of a token family in the list of revoked tokens. The family is listed there after its client was
 * removed from the session.
 */
export function detachedName(familyId: FamilyId): string {
  return `family ${familyId}`;
}
