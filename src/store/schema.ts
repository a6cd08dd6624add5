import type { Milliseconds, Seconds } from '../core/index.ts';
import type { ClientId, ClientUuid, FamilyId, RealmId, SessionId } from '../model/index.ts';
/**
 * The columns of every table. Booleans are 0 or 1, `doc` is JSON text, and times are Unix times in seconds unless the
 * name or a comment states another unit.
 */
export type Tables = {
  meta: { name: string; value: string };
  background_migration: { name: string; position: string; handled: number; finished: number };
  record_count: { kind: string; owner: string; amount: number };
  count_check: {
    kind: string;
    generation: number;
    checked_at: Seconds;
    /** The sum of all differences that checks have corrected, without signs. */
    drift: number;
  };
  realm: { id: RealmId; name: string; doc: string; sealed: Uint8Array | null };
  client: { id: ClientUuid; realm_id: RealmId; client_id: ClientId; doc: string; sealed: Uint8Array | null };
  client_scope: { id: string; realm_id: RealmId; name: string; doc: string };
  role: { id: string; realm_id: RealmId; client_uuid: ClientUuid | null; name: string; doc: string };
  realm_group: { id: string; realm_id: RealmId; parent_id: string | null; name: string; doc: string };
  component: { id: string; realm_id: RealmId; doc: string; sealed: Uint8Array | null };
  account: AccountRow;
  /** Every link has the username of its user, but those of older versions get it later (see `NAME_MEMBERS`). */
  user_role: { user_id: string; role_id: string; username: string | null };
  user_group: { user_id: string; group_id: string; username: string | null };
  credential: {
    id: string;
    user_id: string;
    priority: number;
    secret_data: string | null;
    doc: string;
    sealed: Uint8Array | null;
  };
  user_session: SessionRow;
  token_family: FamilyRow & RepeatColumns;
  user_session_0: UnmovedSessionRow;
  token_family_0: UnmovedFamilyRow;
  authentication_session: AuthenticationSessionRow;
  authorization_code: CodeRow;
  user_consent: ConsentRow;
  revoked_token: { jti: string; expires_at: Seconds };
  claim: { name: string; expires_at: Seconds };
  trash: TrashRow;
  /** `id` is `ENTRY/TABLE/KEY`. `doc` has the columns of the removed row, apart from `sealed`. */
  trash_part: { id: string; doc: string; sealed: Uint8Array | null };
  login_failures: { realm_id: RealmId; user_id: string; revision: number; doc: string };
  event: {
    seq: number;
    realm_id: RealmId;
    time: Milliseconds;
    type: string;
    client_id: ClientId | null;
    user_id: string | null;
    ip_address: string | null;
    doc: string;
  };
  admin_event: {
    seq: number;
    realm_id: RealmId;
    time: Milliseconds;
    operation_type: string;
    resource_type: string;
    resource_path: string;
    auth_realm_id: string;
    auth_client_id: string;
    auth_user_id: string;
    auth_ip_address: string;
    doc: string;
  };
};

/** The states of an entry of the bin. `FILLING`: its record is still being removed. */
export const FILLING = 0;
export const WHOLE = 1;
/** The record is back, and the rest follows in slices. */
export const RETURNING = 2;
/** Nothing shows or restores the entry, and slices remove its parts. */
export const ERASING = 3;

/** An entry of the bin: a deleted record that can be restored. */
export type TrashRow = {
  id: string;
  realm_id: RealmId;
  kind: 'realm' | 'user' | 'client' | 'group';
  record_id: string;
  name: string;
  state: number;
  deleted_at: Milliseconds;
  expires_at: Seconds;
  /** The entry of the realm that this entry belongs to, for the client of master that manages the realm. */
  owner_id: string | null;
  /** JSON: who deleted the record (`by`), and whether a realm or client was enabled. */
  doc: string;
};

export type AccountRow = {
  id: string;
  realm_id: RealmId;
  username: string;
  email: string | null;
  /** In lower case, for searches. `doc` contains the original name. */
  first_name: string | null;
  last_name: string | null;
  enabled: number;
  email_verified: number;
  service_account_client: ClientUuid | null;
  doc: string;
};

/**
 * A session, without its realm: that is the realm of its user. `id` is stored as bytes (see `idBytes`): in a query it is
 * text wherever a slot or a result has the type of a column of `ID_COLUMNS`.
 */
export type SessionRow = {
  id: SessionId;
  offline: number;
  user_id: string;
  started_at: Seconds;
  last_access_at: Seconds;
  remember_me: number;
  /**
   * Unix time in hours at which the sweep checks the session again. The unit is coarse so that refreshes do not change
   * the value.
   */
  look_again: number;
  /** JSON array: the IP address and, unless they are empty, the notes. */
  doc: string;
};

/**
 * A token family. Its key is (session_id, id). Its session, found by (session_id, offline), has the user. All three ids
 * are stored as bytes (see `idBytes`).
 */
export type FamilyRow = {
  session_id: SessionId;
  id: FamilyId;
  offline: number;
  client_uuid: ClientUuid;
  current_hash: Uint8Array;
  parent_hash: Uint8Array | null;
  parent_uses: number;
  scope: string;
  started_at: Seconds;
  last_refresh_at: Seconds;
  /** JSON, or an empty text if there are no notes. */
  notes: string;
};

/** The columns that a family without a rotation does not need (see `Rotation` in the contract). */
export type RepeatColumns = {
  /** The newest refresh token, sealed so that only its parent opens it. Null without a grace period. */
  successor: Uint8Array | null;
  /** Twice the number of generations in a row that were repeated, plus 1 if the newest is one of them. Null means 0. */
  repeats: number | null;
};

/** A session that an older version stored (see the migration `session rows`). Ids are text, and `doc` is an object. */
export type UnmovedSessionRow = SessionRow & { realm_id: RealmId };

/** A token family that an older version stored. Ids are text. */
export type UnmovedFamilyRow = FamilyRow & { user_id: string; realm_id: RealmId };

/** The columns that store an id as bytes, written as `TABLE.COLUMN`. */
export const ID_COLUMNS: ReadonlySet<string> = new Set([
  'user_session.id',
  'token_family.session_id',
  'token_family.id',
  'token_family.client_uuid',
]);

export type AuthenticationSessionRow = {
  id: string;
  realm_id: RealmId;
  client_uuid: ClientUuid;
  user_id: string | null;
  browser_hash: Uint8Array;
  revision: number;
  expires_at: Seconds;
  doc: string;
};

/** The states of an authorization code. */
export const UNUSED = 0;
export const TAKEN = 1;

export type CodeRow = {
  hash: Uint8Array;
  realm_id: RealmId;
  client_uuid: ClientUuid;
  user_id: string;
  session_id: SessionId;
  family_id: FamilyId;
  issued_at: Seconds;
  expires_at: Seconds;
  /** `UNUSED` or `TAKEN`. Older versions wrote 2 when a code was presented again. */
  state: number;
  /** The parameters of the authorization request. They are removed when the code is used. */
  doc: string;
};

export type ConsentRow = {
  user_id: string;
  client_uuid: ClientUuid;
  /** JSON array. */
  scope_ids: string;
  created_date: Milliseconds;
  last_updated_date: Milliseconds;
};

/** The values of a query's slots, by name. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A row as both database drivers return it. */
export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** A value or a promise of it: SQLite returns single rows immediately, Postgres always returns a promise. */
export type Answer<T> = T | Promise<T>;
