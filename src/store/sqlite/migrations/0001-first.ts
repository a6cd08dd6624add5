/** The first schema. Text keys make the table itself the index (WITHOUT ROWID). */
export const FIRST = `
CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE realm (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, doc TEXT NOT NULL, sealed BLOB) WITHOUT ROWID;
CREATE TABLE client (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  client_id TEXT NOT NULL,
  doc TEXT NOT NULL,
  sealed BLOB,
  UNIQUE (realm_id, client_id)
) WITHOUT ROWID;
CREATE TABLE client_scope (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  UNIQUE (realm_id, name)
) WITHOUT ROWID;
CREATE TABLE role (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  client_uuid TEXT,
  name TEXT NOT NULL,
  doc TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX role_name ON role (realm_id, coalesce(client_uuid, ''), name);
CREATE INDEX role_client ON role (client_uuid) WHERE client_uuid IS NOT NULL;
CREATE TABLE realm_group (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  parent_id TEXT,
  name TEXT NOT NULL,
  doc TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX realm_group_name ON realm_group (realm_id, coalesce(parent_id, ''), name);
CREATE INDEX realm_group_parent ON realm_group (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE component (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  doc TEXT NOT NULL,
  sealed BLOB
) WITHOUT ROWID;
CREATE INDEX component_realm ON component (realm_id);
CREATE TABLE account (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  username TEXT NOT NULL,
  email TEXT,
  first_name TEXT,
  last_name TEXT,
  enabled INTEGER NOT NULL,
  email_verified INTEGER NOT NULL,
  service_account_client TEXT,
  doc TEXT NOT NULL,
  UNIQUE (realm_id, username)
) WITHOUT ROWID;
CREATE INDEX account_email ON account (realm_id, email) WHERE email IS NOT NULL;
CREATE INDEX account_service ON account (service_account_client) WHERE service_account_client IS NOT NULL;
CREATE TABLE user_role (
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  role_id TEXT NOT NULL,
  PRIMARY KEY (user_id, role_id)
) WITHOUT ROWID;
CREATE INDEX user_role_role ON user_role (role_id);
CREATE TABLE user_group (
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  PRIMARY KEY (user_id, group_id)
) WITHOUT ROWID;
CREATE INDEX user_group_group ON user_group (group_id);
CREATE TABLE credential (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  priority INTEGER NOT NULL,
  secret_data TEXT,
  doc TEXT NOT NULL,
  sealed BLOB
) WITHOUT ROWID;
CREATE INDEX credential_user ON credential (user_id);
CREATE TABLE user_session (
  id TEXT NOT NULL,
  offline INTEGER NOT NULL,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  last_access_at INTEGER NOT NULL,
  remember_me INTEGER NOT NULL,
  look_again INTEGER NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (id, offline)
) WITHOUT ROWID;
CREATE INDEX user_session_user ON user_session (user_id);
CREATE INDEX user_session_realm ON user_session (realm_id, offline);
CREATE INDEX user_session_look_again ON user_session (look_again);
CREATE TABLE token_family (
  id TEXT PRIMARY KEY NOT NULL,
  session_id TEXT NOT NULL,
  offline INTEGER NOT NULL,
  client_uuid TEXT NOT NULL,
  user_id TEXT NOT NULL,
  realm_id TEXT NOT NULL,
  current_hash BLOB NOT NULL,
  parent_hash BLOB,
  parent_uses INTEGER NOT NULL,
  scope TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_refresh_at INTEGER NOT NULL,
  notes TEXT NOT NULL,
  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX token_family_session ON token_family (session_id, offline);
CREATE INDEX token_family_client ON token_family (client_uuid, offline, session_id);
CREATE TABLE revoked_token (jti TEXT PRIMARY KEY NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX revoked_token_expiry ON revoked_token (expires_at);
CREATE TABLE claim (name TEXT PRIMARY KEY NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX claim_expiry ON claim (expires_at);
CREATE TABLE login_failures (
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (realm_id, user_id)
) WITHOUT ROWID;
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  type TEXT NOT NULL,
  client_id TEXT,
  user_id TEXT,
  ip_address TEXT,
  doc TEXT NOT NULL
);
CREATE INDEX event_time ON event (realm_id, time);
CREATE TABLE admin_event (
  seq INTEGER PRIMARY KEY,
  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  operation_type TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_path TEXT NOT NULL,
  auth_realm_id TEXT NOT NULL,
  auth_client_id TEXT NOT NULL,
  auth_user_id TEXT NOT NULL,
  auth_ip_address TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX admin_event_time ON admin_event (realm_id, time);
`;
