// Written by `node src/store/migrations/compile-definitions.ts` from the migrations. A test checks that it is up to date.
import type { SqliteDefinition } from './known.ts';

/** The `PRAGMA application_id` of idkit's databases. */
export const SQLITE_APPLICATION = 1768188788;

/** The newest version of the schema that this module knows. */
export const SQLITE_VERSION = 9;

// biome-ignore format: generated
export const SQLITE_DEFINITIONS: readonly SqliteDefinition[] = [
 {
  "sql": "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "meta",
   "columns": [
    "name",
    "value"
   ]
  }
 },
 {
  "sql": "CREATE TABLE realm (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, doc TEXT NOT NULL, sealed BLOB) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "realm",
   "columns": [
    "id",
    "name",
    "doc",
    "sealed"
   ]
  }
 },
 {
  "sql": "CREATE TABLE client (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  client_id TEXT NOT NULL,\n  doc TEXT NOT NULL,\n  sealed BLOB,\n  UNIQUE (realm_id, client_id)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "client",
   "columns": [
    "id",
    "realm_id",
    "client_id",
    "doc",
    "sealed"
   ]
  }
 },
 {
  "sql": "CREATE TABLE client_scope (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  name TEXT NOT NULL,\n  doc TEXT NOT NULL,\n  UNIQUE (realm_id, name)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "client_scope",
   "columns": [
    "id",
    "realm_id",
    "name",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE TABLE role (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  client_uuid TEXT,\n  name TEXT NOT NULL,\n  doc TEXT NOT NULL\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "role",
   "columns": [
    "id",
    "realm_id",
    "client_uuid",
    "name",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE UNIQUE INDEX role_name ON role (realm_id, coalesce(client_uuid, ''), name)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX role_client ON role (client_uuid) WHERE client_uuid IS NOT NULL",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE realm_group (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  parent_id TEXT,\n  name TEXT NOT NULL,\n  doc TEXT NOT NULL\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "realm_group",
   "columns": [
    "id",
    "realm_id",
    "parent_id",
    "name",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE UNIQUE INDEX realm_group_name ON realm_group (realm_id, coalesce(parent_id, ''), name)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX realm_group_parent ON realm_group (parent_id) WHERE parent_id IS NOT NULL",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE component (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  doc TEXT NOT NULL,\n  sealed BLOB\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "component",
   "columns": [
    "id",
    "realm_id",
    "doc",
    "sealed"
   ]
  }
 },
 {
  "sql": "CREATE INDEX component_realm ON component (realm_id)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE account (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  username TEXT NOT NULL,\n  email TEXT,\n  first_name TEXT,\n  last_name TEXT,\n  enabled INTEGER NOT NULL,\n  email_verified INTEGER NOT NULL,\n  service_account_client TEXT,\n  doc TEXT NOT NULL,\n  UNIQUE (realm_id, username)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "account",
   "columns": [
    "id",
    "realm_id",
    "username",
    "email",
    "first_name",
    "last_name",
    "enabled",
    "email_verified",
    "service_account_client",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX account_email ON account (realm_id, email) WHERE email IS NOT NULL",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX account_service ON account (service_account_client) WHERE service_account_client IS NOT NULL",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_role (\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  role_id TEXT NOT NULL,\n  PRIMARY KEY (user_id, role_id)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7
  ],
  "table": {
   "name": "user_role",
   "columns": [
    "user_id",
    "role_id"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_role_role ON user_role (role_id)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_group (\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  group_id TEXT NOT NULL,\n  PRIMARY KEY (user_id, group_id)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7
  ],
  "table": {
   "name": "user_group",
   "columns": [
    "user_id",
    "group_id"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_group_group ON user_group (group_id)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE credential (\n  id TEXT PRIMARY KEY NOT NULL,\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  priority INTEGER NOT NULL,\n  secret_data TEXT,\n  doc TEXT NOT NULL,\n  sealed BLOB\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "credential",
   "columns": [
    "id",
    "user_id",
    "priority",
    "secret_data",
    "doc",
    "sealed"
   ]
  }
 },
 {
  "sql": "CREATE INDEX credential_user ON credential (user_id)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_session (\n  id TEXT NOT NULL,\n  offline INTEGER NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  started_at INTEGER NOT NULL,\n  last_access_at INTEGER NOT NULL,\n  remember_me INTEGER NOT NULL,\n  look_again INTEGER NOT NULL,\n  doc TEXT NOT NULL,\n  PRIMARY KEY (id, offline)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4
  ],
  "table": {
   "name": "user_session",
   "columns": [
    "id",
    "offline",
    "realm_id",
    "user_id",
    "started_at",
    "last_access_at",
    "remember_me",
    "look_again",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_session_user ON user_session (user_id)",
  "versions": [
   1,
   2,
   3,
   4
  ]
 },
 {
  "sql": "CREATE INDEX user_session_realm ON user_session (realm_id, offline)",
  "versions": [
   1,
   2,
   3,
   4
  ]
 },
 {
  "sql": "CREATE INDEX user_session_look_again ON user_session (look_again)",
  "versions": [
   1,
   2,
   3,
   4
  ]
 },
 {
  "sql": "CREATE TABLE token_family (\n  id TEXT PRIMARY KEY NOT NULL,\n  session_id TEXT NOT NULL,\n  offline INTEGER NOT NULL,\n  client_uuid TEXT NOT NULL,\n  user_id TEXT NOT NULL,\n  realm_id TEXT NOT NULL,\n  current_hash BLOB NOT NULL,\n  parent_hash BLOB,\n  parent_uses INTEGER NOT NULL,\n  scope TEXT NOT NULL,\n  started_at INTEGER NOT NULL,\n  last_refresh_at INTEGER NOT NULL,\n  notes TEXT NOT NULL,\n  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4
  ],
  "table": {
   "name": "token_family",
   "columns": [
    "id",
    "session_id",
    "offline",
    "client_uuid",
    "user_id",
    "realm_id",
    "current_hash",
    "parent_hash",
    "parent_uses",
    "scope",
    "started_at",
    "last_refresh_at",
    "notes"
   ]
  }
 },
 {
  "sql": "CREATE INDEX token_family_session ON token_family (session_id, offline)",
  "versions": [
   1,
   2,
   3,
   4
  ]
 },
 {
  "sql": "CREATE INDEX token_family_client ON token_family (client_uuid, offline, session_id)",
  "versions": [
   1,
   2,
   3,
   4
  ]
 },
 {
  "sql": "CREATE TABLE revoked_token (jti TEXT PRIMARY KEY NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "revoked_token",
   "columns": [
    "jti",
    "expires_at"
   ]
  }
 },
 {
  "sql": "CREATE INDEX revoked_token_expiry ON revoked_token (expires_at)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE claim (name TEXT PRIMARY KEY NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "claim",
   "columns": [
    "name",
    "expires_at"
   ]
  }
 },
 {
  "sql": "CREATE INDEX claim_expiry ON claim (expires_at)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE login_failures (\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  user_id TEXT NOT NULL,\n  revision INTEGER NOT NULL,\n  doc TEXT NOT NULL,\n  PRIMARY KEY (realm_id, user_id)\n) WITHOUT ROWID",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "login_failures",
   "columns": [
    "realm_id",
    "user_id",
    "revision",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE TABLE event (\n  seq INTEGER PRIMARY KEY,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  time INTEGER NOT NULL,\n  type TEXT NOT NULL,\n  client_id TEXT,\n  user_id TEXT,\n  ip_address TEXT,\n  doc TEXT NOT NULL\n)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "event",
   "columns": [
    "seq",
    "realm_id",
    "time",
    "type",
    "client_id",
    "user_id",
    "ip_address",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX event_time ON event (realm_id, time)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6
  ]
 },
 {
  "sql": "CREATE TABLE admin_event (\n  seq INTEGER PRIMARY KEY,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  time INTEGER NOT NULL,\n  operation_type TEXT NOT NULL,\n  resource_type TEXT NOT NULL,\n  resource_path TEXT NOT NULL,\n  auth_realm_id TEXT NOT NULL,\n  auth_client_id TEXT NOT NULL,\n  auth_user_id TEXT NOT NULL,\n  auth_ip_address TEXT NOT NULL,\n  doc TEXT NOT NULL\n)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "admin_event",
   "columns": [
    "seq",
    "realm_id",
    "time",
    "operation_type",
    "resource_type",
    "resource_path",
    "auth_realm_id",
    "auth_client_id",
    "auth_user_id",
    "auth_ip_address",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX admin_event_time ON admin_event (realm_id, time)",
  "versions": [
   1,
   2,
   3,
   4,
   5,
   6
  ]
 },
 {
  "sql": "CREATE TABLE authentication_session (\n  id TEXT PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL,\n  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,\n  user_id TEXT REFERENCES account (id) ON DELETE CASCADE,\n  browser_hash BLOB NOT NULL,\n  revision INTEGER NOT NULL,\n  expires_at INTEGER NOT NULL,\n  doc TEXT NOT NULL\n) WITHOUT ROWID",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "authentication_session",
   "columns": [
    "id",
    "realm_id",
    "client_uuid",
    "user_id",
    "browser_hash",
    "revision",
    "expires_at",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX authentication_session_client ON authentication_session (client_uuid)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX authentication_session_user ON authentication_session (user_id) WHERE user_id IS NOT NULL",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX authentication_session_expiry ON authentication_session (expires_at)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE authorization_code (\n  hash BLOB PRIMARY KEY NOT NULL,\n  realm_id TEXT NOT NULL,\n  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  session_id TEXT NOT NULL,\n  family_id TEXT NOT NULL,\n  issued_at INTEGER NOT NULL,\n  expires_at INTEGER NOT NULL,\n  state INTEGER NOT NULL,\n  doc TEXT NOT NULL\n) WITHOUT ROWID",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "authorization_code",
   "columns": [
    "hash",
    "realm_id",
    "client_uuid",
    "user_id",
    "session_id",
    "family_id",
    "issued_at",
    "expires_at",
    "state",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX authorization_code_client ON authorization_code (client_uuid)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX authorization_code_user ON authorization_code (user_id)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX authorization_code_expiry ON authorization_code (expires_at)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_consent (\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,\n  scope_ids TEXT NOT NULL,\n  created_date INTEGER NOT NULL,\n  last_updated_date INTEGER NOT NULL,\n  PRIMARY KEY (user_id, client_uuid)\n) WITHOUT ROWID",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "user_consent",
   "columns": [
    "user_id",
    "client_uuid",
    "scope_ids",
    "created_date",
    "last_updated_date"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_consent_client ON user_consent (client_uuid)",
  "versions": [
   2,
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX account_realm ON account (realm_id, id)",
  "versions": [
   3,
   4,
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE background_migration (\n  name TEXT PRIMARY KEY NOT NULL,\n  position TEXT NOT NULL,\n  handled INTEGER NOT NULL,\n  finished INTEGER NOT NULL\n) WITHOUT ROWID",
  "versions": [
   4,
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "background_migration",
   "columns": [
    "name",
    "position",
    "handled",
    "finished"
   ]
  }
 },
 {
  "sql": "CREATE TABLE \"user_session_0\" (\n  id TEXT NOT NULL,\n  offline INTEGER NOT NULL,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  started_at INTEGER NOT NULL,\n  last_access_at INTEGER NOT NULL,\n  remember_me INTEGER NOT NULL,\n  look_again INTEGER NOT NULL,\n  doc TEXT NOT NULL,\n  PRIMARY KEY (id, offline)\n) WITHOUT ROWID",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "user_session_0",
   "columns": [
    "id",
    "offline",
    "realm_id",
    "user_id",
    "started_at",
    "last_access_at",
    "remember_me",
    "look_again",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_session_user ON \"user_session_0\" (user_id)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX user_session_realm ON \"user_session_0\" (realm_id, offline)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX user_session_look_again ON \"user_session_0\" (look_again)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE \"token_family_0\" (\n  id TEXT PRIMARY KEY NOT NULL,\n  session_id TEXT NOT NULL,\n  offline INTEGER NOT NULL,\n  client_uuid TEXT NOT NULL,\n  user_id TEXT NOT NULL,\n  realm_id TEXT NOT NULL,\n  current_hash BLOB NOT NULL,\n  parent_hash BLOB,\n  parent_uses INTEGER NOT NULL,\n  scope TEXT NOT NULL,\n  started_at INTEGER NOT NULL,\n  last_refresh_at INTEGER NOT NULL,\n  notes TEXT NOT NULL,\n  FOREIGN KEY (session_id, offline) REFERENCES \"user_session_0\" (id, offline) ON DELETE CASCADE\n) WITHOUT ROWID",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "token_family_0",
   "columns": [
    "id",
    "session_id",
    "offline",
    "client_uuid",
    "user_id",
    "realm_id",
    "current_hash",
    "parent_hash",
    "parent_uses",
    "scope",
    "started_at",
    "last_refresh_at",
    "notes"
   ]
  }
 },
 {
  "sql": "CREATE INDEX token_family_session ON \"token_family_0\" (session_id, offline)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX token_family_client ON \"token_family_0\" (client_uuid, offline, session_id)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_session (\n  id BLOB NOT NULL,\n  offline INTEGER NOT NULL,\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  started_at INTEGER NOT NULL,\n  last_access_at INTEGER NOT NULL,\n  remember_me INTEGER NOT NULL,\n  look_again INTEGER NOT NULL,\n  doc TEXT NOT NULL,\n  PRIMARY KEY (id, offline)\n) WITHOUT ROWID",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "user_session",
   "columns": [
    "id",
    "offline",
    "user_id",
    "started_at",
    "last_access_at",
    "remember_me",
    "look_again",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_session_of_user ON user_session (user_id)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX user_session_due ON user_session (look_again)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE token_family (\n  session_id BLOB NOT NULL,\n  id BLOB NOT NULL,\n  offline INTEGER NOT NULL,\n  client_uuid BLOB NOT NULL,\n  current_hash BLOB NOT NULL,\n  parent_hash BLOB,\n  parent_uses INTEGER NOT NULL,\n  scope TEXT NOT NULL,\n  started_at INTEGER NOT NULL,\n  last_refresh_at INTEGER NOT NULL,\n  notes TEXT NOT NULL,\n  PRIMARY KEY (session_id, id),\n  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE\n) WITHOUT ROWID",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "token_family",
   "columns": [
    "session_id",
    "id",
    "offline",
    "client_uuid",
    "current_hash",
    "parent_hash",
    "parent_uses",
    "scope",
    "started_at",
    "last_refresh_at",
    "notes"
   ]
  }
 },
 {
  "sql": "CREATE INDEX token_family_of_client ON token_family (client_uuid, offline, session_id)",
  "versions": [
   5,
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE record_count (\n  kind TEXT NOT NULL,\n  owner TEXT NOT NULL,\n  amount INTEGER NOT NULL,\n  PRIMARY KEY (kind, owner)\n) WITHOUT ROWID",
  "versions": [
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "record_count",
   "columns": [
    "kind",
    "owner",
    "amount"
   ]
  }
 },
 {
  "sql": "CREATE TABLE count_check (\n  kind TEXT PRIMARY KEY NOT NULL,\n  generation INTEGER NOT NULL,\n  checked_at INTEGER NOT NULL,\n  drift INTEGER NOT NULL\n) WITHOUT ROWID",
  "versions": [
   6,
   7,
   8,
   9
  ],
  "table": {
   "name": "count_check",
   "columns": [
    "kind",
    "generation",
    "checked_at",
    "drift"
   ]
  }
 },
 {
  "sql": "CREATE TRIGGER account_added AFTER INSERT ON account WHEN NEW.service_account_client IS NULL BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'users', NEW.realm_id, 1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER account_removed AFTER DELETE ON account WHEN OLD.service_account_client IS NULL BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'users', OLD.realm_id, -1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER account_updated AFTER UPDATE OF service_account_client ON account WHEN (OLD.service_account_client IS NULL) <> (NEW.service_account_client IS NULL) BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'users', NEW.realm_id, CASE WHEN NEW.service_account_client IS NULL THEN 1 ELSE -1 END WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER user_session_added AFTER INSERT ON user_session BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT CASE NEW.offline WHEN 0 THEN 'sessions' ELSE 'offlineSessions' END, '', 1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER user_session_removed AFTER DELETE ON user_session BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT CASE OLD.offline WHEN 0 THEN 'sessions' ELSE 'offlineSessions' END, '', -1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER token_family_added AFTER INSERT ON token_family BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'families', '', 1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\n  INSERT INTO record_count (kind, owner, amount) SELECT CASE NEW.offline WHEN 0 THEN 'clientSessions' ELSE 'clientOfflineSessions' END, lower(hex(NEW.client_uuid)), 1 WHERE NOT EXISTS (SELECT 1 FROM token_family AS other WHERE other.client_uuid = NEW.client_uuid\n      AND other.offline = NEW.offline AND other.session_id = NEW.session_id AND other.id <> NEW.id)\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER token_family_removed AFTER DELETE ON token_family BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'families', '', -1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\n  INSERT INTO record_count (kind, owner, amount) SELECT CASE OLD.offline WHEN 0 THEN 'clientSessions' ELSE 'clientOfflineSessions' END, lower(hex(OLD.client_uuid)), -1 WHERE NOT EXISTS (SELECT 1 FROM token_family AS other WHERE other.client_uuid = OLD.client_uuid\n      AND other.offline = OLD.offline AND other.session_id = OLD.session_id AND other.id <> OLD.id)\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER authentication_session_added AFTER INSERT ON authentication_session BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'logins', '', 1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER authentication_session_removed AFTER DELETE ON authentication_session BEGIN\n  INSERT INTO record_count (kind, owner, amount) SELECT 'logins', '', -1 WHERE true\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   6,
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE \"event_0\" (\n  seq INTEGER PRIMARY KEY,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  time INTEGER NOT NULL,\n  type TEXT NOT NULL,\n  client_id TEXT,\n  user_id TEXT,\n  ip_address TEXT,\n  doc TEXT NOT NULL\n)",
  "versions": [
   7,
   8,
   9
  ],
  "table": {
   "name": "event_0",
   "columns": [
    "seq",
    "realm_id",
    "time",
    "type",
    "client_id",
    "user_id",
    "ip_address",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX event_time ON \"event_0\" (realm_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE \"admin_event_0\" (\n  seq INTEGER PRIMARY KEY,\n  realm_id TEXT NOT NULL REFERENCES realm (id) ON DELETE CASCADE,\n  time INTEGER NOT NULL,\n  operation_type TEXT NOT NULL,\n  resource_type TEXT NOT NULL,\n  resource_path TEXT NOT NULL,\n  auth_realm_id TEXT NOT NULL,\n  auth_client_id TEXT NOT NULL,\n  auth_user_id TEXT NOT NULL,\n  auth_ip_address TEXT NOT NULL,\n  doc TEXT NOT NULL\n)",
  "versions": [
   7,
   8,
   9
  ],
  "table": {
   "name": "admin_event_0",
   "columns": [
    "seq",
    "realm_id",
    "time",
    "operation_type",
    "resource_type",
    "resource_path",
    "auth_realm_id",
    "auth_client_id",
    "auth_user_id",
    "auth_ip_address",
    "doc"
   ]
  }
 },
 {
  "sql": "CREATE INDEX admin_event_time ON \"admin_event_0\" (realm_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX event_place ON event (realm_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX event_type ON event (realm_id, type, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX event_client ON event (realm_id, client_id, type, time) WHERE client_id IS NOT NULL",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX event_user ON event (user_id, time) WHERE user_id IS NOT NULL",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX event_ip ON event (realm_id, ip_address, time) WHERE ip_address IS NOT NULL",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_place ON admin_event (realm_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_resource ON admin_event (realm_id, resource_type, operation_type, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_path ON admin_event (realm_id, resource_path, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_client ON admin_event (realm_id, auth_realm_id, auth_client_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_user ON admin_event (auth_user_id, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX admin_event_ip ON admin_event (realm_id, auth_ip_address, time)",
  "versions": [
   7,
   8,
   9
  ]
 },
 {
  "sql": "CREATE TABLE user_role (\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  role_id TEXT NOT NULL, username TEXT,\n  PRIMARY KEY (user_id, role_id)\n) WITHOUT ROWID",
  "versions": [
   8,
   9
  ],
  "table": {
   "name": "user_role",
   "columns": [
    "user_id",
    "role_id",
    "username"
   ]
  }
 },
 {
  "sql": "CREATE TABLE user_group (\n  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,\n  group_id TEXT NOT NULL, username TEXT,\n  PRIMARY KEY (user_id, group_id)\n) WITHOUT ROWID",
  "versions": [
   8,
   9
  ],
  "table": {
   "name": "user_group",
   "columns": [
    "user_id",
    "group_id",
    "username"
   ]
  }
 },
 {
  "sql": "CREATE INDEX user_role_username ON user_role (role_id, username) WHERE username IS NOT NULL",
  "versions": [
   8,
   9
  ]
 },
 {
  "sql": "CREATE INDEX user_group_username ON user_group (group_id, username) WHERE username IS NOT NULL",
  "versions": [
   8,
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER account_actions_added AFTER INSERT ON account WHEN NEW.enabled = 1 AND NEW.doc LIKE '%\"requiredActions\":[\"%' BEGIN\n  INSERT INTO record_count (kind, owner, amount)\n    SELECT 'actions', json_quote(NEW.realm_id) || coalesce(json_extract(NEW.doc, '$.requiredActions'), '[]'), 1 WHERE NEW.enabled = 1 AND NEW.doc LIKE '%\"requiredActions\":[\"%'\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER account_actions_removed AFTER DELETE ON account WHEN OLD.enabled = 1 AND OLD.doc LIKE '%\"requiredActions\":[\"%' BEGIN\n  INSERT INTO record_count (kind, owner, amount)\n    SELECT 'actions', json_quote(OLD.realm_id) || coalesce(json_extract(OLD.doc, '$.requiredActions'), '[]'), -1 WHERE OLD.enabled = 1 AND OLD.doc LIKE '%\"requiredActions\":[\"%'\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   9
  ]
 },
 {
  "sql": "CREATE TRIGGER account_actions_updated AFTER UPDATE OF enabled, doc ON account WHEN (OLD.enabled = 1 AND OLD.doc LIKE '%\"requiredActions\":[\"%') OR (NEW.enabled = 1 AND NEW.doc LIKE '%\"requiredActions\":[\"%') BEGIN\n  INSERT INTO record_count (kind, owner, amount)\n    SELECT 'actions', json_quote(OLD.realm_id) || coalesce(json_extract(OLD.doc, '$.requiredActions'), '[]'), -1 WHERE OLD.enabled = 1 AND OLD.doc LIKE '%\"requiredActions\":[\"%'\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\n  INSERT INTO record_count (kind, owner, amount)\n    SELECT 'actions', json_quote(NEW.realm_id) || coalesce(json_extract(NEW.doc, '$.requiredActions'), '[]'), 1 WHERE NEW.enabled = 1 AND NEW.doc LIKE '%\"requiredActions\":[\"%'\n    ON CONFLICT (kind, owner) DO UPDATE SET amount = amount + excluded.amount;\nEND",
  "versions": [
   9
  ]
 }
];
