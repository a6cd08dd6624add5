import type { Migration } from './index.ts';

/**
 * The first schema. On SQLite, each table is its own index (WITHOUT ROWID). On Postgres, text is compared byte by byte,
 * so that every server sorts it in the same order. On Postgres, a refresh writes the new version of a token family's
 * row into the same page (HOT), because pages have free space and no index contains a column that a refresh changes.
 */
export const FIRST: Migration = {
  sqlite: `
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
`,
  postgres: `
CREATE TABLE idkit_schema (version INTEGER NOT NULL);
INSERT INTO idkit_schema (version) VALUES (0);
CREATE TABLE meta (name TEXT COLLATE "C" PRIMARY KEY NOT NULL, value TEXT COLLATE "C" NOT NULL);
CREATE TABLE realm (id TEXT COLLATE "C" PRIMARY KEY NOT NULL, name TEXT COLLATE "C" NOT NULL UNIQUE, doc TEXT COLLATE "C" NOT NULL, sealed BYTEA);
CREATE TABLE client (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  client_id TEXT COLLATE "C" NOT NULL,
  doc TEXT COLLATE "C" NOT NULL,
  sealed BYTEA,
  UNIQUE (realm_id, client_id)
);
CREATE TABLE client_scope (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  doc TEXT COLLATE "C" NOT NULL,
  UNIQUE (realm_id, name)
);
CREATE TABLE role (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  client_uuid TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL,
  doc TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX role_name ON role (realm_id, coalesce(client_uuid, ''), name);
CREATE INDEX role_client ON role (client_uuid) WHERE client_uuid IS NOT NULL;
CREATE TABLE realm_group (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  parent_id TEXT COLLATE "C",
  name TEXT COLLATE "C" NOT NULL,
  doc TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX realm_group_name ON realm_group (realm_id, coalesce(parent_id, ''), name);
CREATE INDEX realm_group_parent ON realm_group (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE component (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  doc TEXT COLLATE "C" NOT NULL,
  sealed BYTEA
);
CREATE INDEX component_realm ON component (realm_id);
CREATE TABLE account (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  username TEXT COLLATE "C" NOT NULL,
  email TEXT COLLATE "C",
  first_name TEXT COLLATE "C",
  last_name TEXT COLLATE "C",
  enabled INTEGER NOT NULL,
  email_verified INTEGER NOT NULL,
  service_account_client TEXT COLLATE "C",
  doc TEXT COLLATE "C" NOT NULL,
  UNIQUE (realm_id, username)
);
CREATE INDEX account_email ON account (realm_id, email) WHERE email IS NOT NULL;
CREATE INDEX account_service ON account (service_account_client) WHERE service_account_client IS NOT NULL;
CREATE TABLE user_role (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  role_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, role_id)
);
CREATE INDEX user_role_role ON user_role (role_id);
CREATE TABLE user_group (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  group_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, group_id)
);
CREATE INDEX user_group_group ON user_group (group_id);
CREATE TABLE credential (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  priority INTEGER NOT NULL,
  secret_data TEXT COLLATE "C",
  doc TEXT COLLATE "C" NOT NULL,
  sealed BYTEA
);
CREATE INDEX credential_user ON credential (user_id);
CREATE TABLE user_session (
  id TEXT COLLATE "C" NOT NULL,
  offline INTEGER NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  started_at BIGINT NOT NULL,
  last_access_at BIGINT NOT NULL,
  remember_me INTEGER NOT NULL,
  look_again INTEGER NOT NULL,
  doc TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (id, offline)
) WITH (fillfactor = 90);
CREATE INDEX user_session_user ON user_session (user_id);
CREATE INDEX user_session_realm ON user_session (realm_id, offline);
CREATE INDEX user_session_look_again ON user_session (look_again);
CREATE TABLE token_family (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  offline INTEGER NOT NULL,
  client_uuid TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL,
  current_hash BYTEA NOT NULL,
  parent_hash BYTEA,
  parent_uses INTEGER NOT NULL,
  scope TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  last_refresh_at BIGINT NOT NULL,
  notes TEXT COLLATE "C" NOT NULL,
  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX token_family_session ON token_family (session_id, offline);
CREATE INDEX token_family_client ON token_family (client_uuid, offline, session_id);
CREATE TABLE revoked_token (jti TEXT COLLATE "C" PRIMARY KEY NOT NULL, expires_at BIGINT NOT NULL);
CREATE INDEX revoked_token_expiry ON revoked_token (expires_at);
CREATE TABLE claim (name TEXT COLLATE "C" PRIMARY KEY NOT NULL, expires_at BIGINT NOT NULL);
CREATE INDEX claim_expiry ON claim (expires_at);
CREATE TABLE login_failures (
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL,
  revision BIGINT NOT NULL,
  doc TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
CREATE TABLE event (
  seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time BIGINT NOT NULL,
  type TEXT COLLATE "C" NOT NULL,
  client_id TEXT COLLATE "C",
  user_id TEXT COLLATE "C",
  ip_address TEXT COLLATE "C",
  doc TEXT COLLATE "C" NOT NULL
);
CREATE INDEX event_time ON event (realm_id, time);
CREATE TABLE admin_event (
  seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  realm_id TEXT COLLATE "C" NOT NULL REFERENCES realm (id) ON DELETE CASCADE,
  time BIGINT NOT NULL,
  operation_type TEXT COLLATE "C" NOT NULL,
  resource_type TEXT COLLATE "C" NOT NULL,
  resource_path TEXT COLLATE "C" NOT NULL,
  auth_realm_id TEXT COLLATE "C" NOT NULL,
  auth_client_id TEXT COLLATE "C" NOT NULL,
  auth_user_id TEXT COLLATE "C" NOT NULL,
  auth_ip_address TEXT COLLATE "C" NOT NULL,
  doc TEXT COLLATE "C" NOT NULL
);
CREATE INDEX admin_event_time ON admin_event (realm_id, time);
CREATE TABLE configuration_change (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  transaction BIGINT NOT NULL DEFAULT (pg_current_xact_id()::text::bigint),
  time TIMESTAMPTZ NOT NULL DEFAULT now(),
  origin TEXT COLLATE "C" NOT NULL,
  touched TEXT COLLATE "C" NOT NULL
);
CREATE INDEX configuration_change_transaction ON configuration_change (transaction);
CREATE INDEX configuration_change_time ON configuration_change (time);
`,
};
