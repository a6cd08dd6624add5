import type { TokenFamily, UserSession } from '../../model/index.ts';
import type { FamilyInSession, SessionWithClients } from '../contract/index.ts';
import type { RowOf } from '../queries/compiled/types.ts';
import type { FamilyRow, SessionRow } from '../schema.ts';
import { idText } from './id-bytes.ts';

const HOUR = 3600;

export function sessionRow(session: UserSession): SessionRow {
  const { ipAddress, notes } = session;
  return {
    id: session.id,
    offline: session.offline ? 1 : 0,
    user_id: session.userId,
    started_at: session.startedAt,
    last_access_at: session.lastAccessAt,
    remember_me: session.rememberMe ? 1 : 0,
    look_again: Math.floor(session.startedAt / HOUR) + 1,
    doc: JSON.stringify(isEmpty(notes) ? [ipAddress] : [ipAddress, notes]),
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
    ...readSessionDocument(row.doc),
  };
}

/** Reads a session that an older version stored. */
export function readUnmovedSession(row: RowOf<'unmoved.ofClient'>): SessionWithClients {
  const { ipAddress, notes }: Pick<UserSession, 'ipAddress' | 'notes'> = JSON.parse(row.doc);
  const session = readSession({ ...row, doc: JSON.stringify([ipAddress, notes]) });
  return { session, username: row.username, clientUuids: JSON.parse(row.client_uuids) };
}

/** Returns the fields of a session that its document contains. */
export function readSessionDocument(doc: string): Pick<UserSession, 'ipAddress' | 'notes'> {
  const [ipAddress, notes = {}]: [string, Record<string, string>?] = JSON.parse(doc);
  return { ipAddress, notes };
}

export function readListedSession(row: RowOf<'session.ofUser'>): SessionWithClients {
  const clientUuids = (JSON.parse(row.client_uuids) as string[]).map((hex) =>
    idText(Buffer.from(hex, 'hex')),
  );
  return { session: readSession(row), username: row.username, clientUuids };
}

export function familyRow(family: TokenFamily): FamilyRow {
  return {
    session_id: family.sessionId,
    id: family.id,
    offline: family.offline ? 1 : 0,
    client_uuid: family.clientUuid,
    current_hash: family.currentHash,
    parent_hash: family.parentHash ?? null,
    parent_uses: family.parentUses,
    scope: family.scope,
    started_at: family.startedAt,
    last_refresh_at: family.lastRefreshAt,
    notes: isEmpty(family.notes) ? '' : JSON.stringify(family.notes),
  };
}

function isEmpty(notes: Readonly<Record<string, string>>): boolean {
  return Object.keys(notes).length === 0;
}

/** Returns the notes of a token family from its column. */
export function readNotes(notes: string): Record<string, string> {
  return notes === '' ? {} : JSON.parse(notes);
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
    notes: readNotes(row.notes),
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
    ...readSessionDocument(row.doc),
  };
  return { family, session };
}

export function buffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
