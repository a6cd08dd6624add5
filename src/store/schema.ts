/** Rows as Kysely sees them. Booleans are 0 or 1; `doc` is JSON text; times are seconds unless a name says else. */
export type Tables = {
  meta: { name: string; value: string };
  realm: { id: string; name: string; doc: string; sealed: Uint8Array | null };
  client: { id: string; realm_id: string; client_id: string; doc: string; sealed: Uint8Array | null };
  client_scope: { id: string; realm_id: string; name: string; doc: string };
  role: { id: string; realm_id: string; client_uuid: string | null; name: string; doc: string };
  realm_group: { id: string; realm_id: string; parent_id: string | null; name: string; doc: string };
  component: { id: string; realm_id: string; doc: string; sealed: Uint8Array | null };
  account: AccountRow;
  user_role: { user_id: string; role_id: string };
  user_group: { user_id: string; group_id: string };
  credential: {
    id: string;
    user_id: string;
    priority: number;
    secret_data: string | null;
    doc: string;
    sealed: Uint8Array | null;
  };
  user_session: SessionRow;
  token_family: FamilyRow;
  authentication_session: AuthenticationSessionRow;
  authorization_code: CodeRow;
  user_consent: ConsentRow;
  revoked_token: { jti: string; expires_at: number };
  claim: { name: string; expires_at: number };
  login_failures: { realm_id: string; user_id: string; revision: number; doc: string };
  event: {
    seq: number;
    realm_id: string;
    /** Milliseconds. */
    time: number;
    type: string;
    client_id: string | null;
    user_id: string | null;
    ip_address: string | null;
    doc: string;
  };
  admin_event: {
    seq: number;
    realm_id: string;
    /** Milliseconds. */
    time: number;
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

export type AccountRow = {
  id: string;
  realm_id: string;
  username: string;
  email: string | null;
  /** In lower case, for searches; `doc` holds the name as given. */
  first_name: string | null;
  last_name: string | null;
  enabled: number;
  email_verified: number;
  service_account_client: string | null;
  doc: string;
};

export type SessionRow = {
  id: string;
  offline: number;
  realm_id: string;
  user_id: string;
  started_at: number;
  last_access_at: number;
  remember_me: number;
  /** Hour since the epoch in which the sweep looks at it again; coarse, so that a refresh never changes it. */
  look_again: number;
  doc: string;
};

export type FamilyRow = {
  id: string;
  session_id: string;
  offline: number;
  client_uuid: string;
  user_id: string;
  realm_id: string;
  current_hash: Uint8Array;
  parent_hash: Uint8Array | null;
  parent_uses: number;
  scope: string;
  started_at: number;
  last_refresh_at: number;
  notes: string;
};

export type AuthenticationSessionRow = {
  id: string;
  realm_id: string;
  client_uuid: string;
  user_id: string | null;
  browser_hash: Uint8Array;
  revision: number;
  expires_at: number;
  doc: string;
};

/** States of an authorization code. */
export const UNUSED = 0;
export const TAKEN = 1;

export type CodeRow = {
  hash: Uint8Array;
  realm_id: string;
  client_uuid: string;
  user_id: string;
  session_id: string;
  family_id: string;
  issued_at: number;
  expires_at: number;
  /** `UNUSED` or more: `TAKEN`; an older version wrote 2 where it was presented again. */
  state: number;
  /** The rest of the request; empty once the code was taken. */
  doc: string;
};

export type ConsentRow = {
  user_id: string;
  client_uuid: string;
  /** JSON array. */
  scope_ids: string;
  /** Milliseconds. */
  created_date: number;
  /** Milliseconds. */
  last_updated_date: number;
};

/** Values of a query by the names of its slots. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A row as both databases' drivers give it. */
export type Row = Record<string, null | number | bigint | string | Uint8Array>;

/** A value now, or later: SQLite answers point reads at once, Postgres never does. */
export type Answer<T> = T | Promise<T>;
