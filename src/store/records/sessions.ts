import type { TokenFamily, UserSession } from '../../model/index.ts';
import type { FamilyInSession, SessionWithClients } from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { FamilyRow, SessionRow } from '../schema.ts';

const HOUR = 3600;

export function sessionRow(session: UserSession): SessionRow {
  const { ipAddress, notes } = session;
  return {
    id: session.id,
    offline: session.offline ? 1 : 0,
    realm_id: session.realmId,
    user_id: session.userId,
    started_at: session.startedAt,
    last_access_at: session.lastAccessAt,
    remember_me: session.rememberMe ? 1 : 0,
    look_again: Math.floor(session.startedAt / HOUR) + 1,
    doc: JSON.stringify({ ipAddress, notes }),
  };
}

export function readSession(row: RowOf<'session.find'>): UserSession {
  return {
    id: row.id,
    offline: row.offline === 1,
    realmId: row.realm_id,
    userId: row.user_id,
    startedAt: row.started_at,
    lastAccessAt: Math.max(row.last_access_at, row.last_refresh_at ?? 0),
    rememberMe: row.remember_me === 1,
    ...JSON.parse(row.doc),
  };
}

export function readListedSession(row: RowOf<'session.ofUser'>): SessionWithClients {
  return { session: readSession(row), username: row.username, clientUuids: JSON.parse(row.client_uuids) };
}

export function familyRow(family: TokenFamily): FamilyRow {
  return {
    id: family.id,
    session_id: family.sessionId,
    offline: family.offline ? 1 : 0,
    client_uuid: family.clientUuid,
    user_id: family.userId,
    realm_id: family.realmId,
    current_hash: family.currentHash,
    parent_hash: family.parentHash ?? null,
    parent_uses: family.parentUses,
    scope: family.scope,
    started_at: family.startedAt,
    last_refresh_at: family.lastRefreshAt,
    notes: JSON.stringify(family.notes),
  };
}

export function readFamilyInSession(row: RowOf<'family.find'>): FamilyInSession {
  const family: TokenFamily = {
    id: row.id,
    sessionId: row.session_id,
    offline: row.offline === 1,
    realmId: row.realm_id,
    clientUuid: row.client_uuid,
    userId: row.user_id,
    currentHash: buffer(row.current_hash),
    parentUses: row.parent_uses,
    scope: row.scope,
    startedAt: row.started_at,
    lastRefreshAt: row.last_refresh_at,
    notes: JSON.parse(row.notes),
  };
  if (row.parent_hash !== null) family.parentHash = buffer(row.parent_hash);
  const session: UserSession = {
    id: row.session_id,
    offline: row.offline === 1,
    realmId: row.realm_id,
    userId: row.user_id,
    startedAt: row.session_started_at,
    lastAccessAt: Math.max(row.last_access_at, row.session_refresh_at),
    rememberMe: row.remember_me === 1,
    ...JSON.parse(row.doc),
  };
  return { family, session };
}

export function buffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
