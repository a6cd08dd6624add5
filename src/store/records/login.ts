import type { AuthenticationSession, AuthorizationCode, Consent } from '../../model/index.ts';
import type { AuthenticationSessionRow, CodeRow, ConsentRow } from '../schema.ts';
import { buffer } from './sessions.ts';

/** A code as it is stored first; its hash travels as text, one character per byte. */
export type NewCodeRow = Omit<CodeRow, 'state' | 'hash'> & { hash: string };

/** An authentication session as it travels to be stored; `browser_hash` as text, one character per byte. */
export type NewAuthenticationRow = Omit<AuthenticationSessionRow, 'browser_hash'> & { browser_hash: string };

/** How an authentication session is stored; what no query asks for is in `doc`. */
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

/** The reverse of `authenticationRow`. */
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

/** How an authorization code is stored: by its hash. */
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

/** @param hash that it was found by */
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

/** How a consent is stored. */
export function consentRow(consent: Consent): ConsentRow {
  return {
    user_id: consent.userId,
    client_uuid: consent.clientUuid,
    scope_ids: JSON.stringify(consent.scopeIds),
    created_date: consent.createdDate,
    last_updated_date: consent.lastUpdatedDate,
  };
}

/** The reverse of `consentRow`. */
export function readConsent(row: ConsentRow): Consent {
  return {
    userId: row.user_id,
    clientUuid: row.client_uuid,
    scopeIds: JSON.parse(row.scope_ids),
    createdDate: row.created_date,
    lastUpdatedDate: row.last_updated_date,
  };
}

/** The name under which the list of revoked tokens knows a family whose client was taken out of its session. */
export function detachedName(familyId: string): string {
  return `family ${familyId}`;
}
