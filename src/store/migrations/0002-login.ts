import type { Migration } from './index.ts';

/**
 * Adds the tables of browser logins: authentication sessions, authorization codes and consents. A code outlives its
 * session, so that its second use is detected. These rows are removed together with the realm's clients. On SQLite,
 * consents that an older version stored with the user become rows.
 */
export const LOGIN: Migration = {
  sqlite: `
CREATE TABLE authentication_session (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL,
  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  user_id TEXT REFERENCES account (id) ON DELETE CASCADE,
  browser_hash BLOB NOT NULL,
  revision INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  doc TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX authentication_session_client ON authentication_session (client_uuid);
CREATE INDEX authentication_session_user ON authentication_session (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX authentication_session_expiry ON authentication_session (expires_at);
CREATE TABLE authorization_code (
  hash BLOB PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL,
  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  family_id TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state INTEGER NOT NULL,
  doc TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX authorization_code_client ON authorization_code (client_uuid);
CREATE INDEX authorization_code_user ON authorization_code (user_id);
CREATE INDEX authorization_code_expiry ON authorization_code (expires_at);
CREATE TABLE user_consent (
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  client_uuid TEXT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  scope_ids TEXT NOT NULL,
  created_date INTEGER NOT NULL,
  last_updated_date INTEGER NOT NULL,
  PRIMARY KEY (user_id, client_uuid)
) WITHOUT ROWID;
CREATE INDEX user_consent_client ON user_consent (client_uuid);
INSERT OR IGNORE INTO user_consent (user_id, client_uuid, scope_ids, created_date, last_updated_date)
  SELECT account.id, client.id,
    (SELECT json_group_array(client_scope.id) FROM json_each(kept.value, '$.grantedClientScopes') AS granted
      JOIN client_scope ON client_scope.realm_id = account.realm_id AND client_scope.name = granted.value),
    CAST(coalesce(json_extract(kept.value, '$.createdDate'), 0) AS INTEGER),
    CAST(coalesce(json_extract(kept.value, '$.lastUpdatedDate'), 0) AS INTEGER)
  FROM account, json_each(account.doc, '$.kept.clientConsents') AS kept
  JOIN client ON client.realm_id = account.realm_id AND client.client_id = json_extract(kept.value, '$.clientId')
  WHERE kept.type = 'object' AND json_type(account.doc, '$.kept.clientConsents') = 'array';
UPDATE account SET doc = json_remove(doc, '$.kept.clientConsents')
  WHERE json_type(doc, '$.kept.clientConsents') IS NOT NULL;
`,
  postgres: `
CREATE TABLE authentication_session (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL,
  client_uuid TEXT COLLATE "C" NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" REFERENCES account (id) ON DELETE CASCADE,
  browser_hash BYTEA NOT NULL,
  revision BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  doc TEXT COLLATE "C" NOT NULL
);
CREATE INDEX authentication_session_client ON authentication_session (client_uuid);
CREATE INDEX authentication_session_user ON authentication_session (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX authentication_session_expiry ON authentication_session (expires_at);
CREATE TABLE authorization_code (
  hash BYTEA PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL,
  client_uuid TEXT COLLATE "C" NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  session_id TEXT COLLATE "C" NOT NULL,
  family_id TEXT COLLATE "C" NOT NULL,
  issued_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  state INTEGER NOT NULL,
  doc TEXT COLLATE "C" NOT NULL
);
CREATE INDEX authorization_code_client ON authorization_code (client_uuid);
CREATE INDEX authorization_code_user ON authorization_code (user_id);
CREATE INDEX authorization_code_expiry ON authorization_code (expires_at);
CREATE TABLE user_consent (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  client_uuid TEXT COLLATE "C" NOT NULL REFERENCES client (id) ON DELETE CASCADE,
  scope_ids TEXT COLLATE "C" NOT NULL,
  created_date BIGINT NOT NULL,
  last_updated_date BIGINT NOT NULL,
  PRIMARY KEY (user_id, client_uuid)
);
CREATE INDEX user_consent_client ON user_consent (client_uuid);
`,
};
