/**
 * The login in a browser: authentication sessions, authorization codes and consents. A code is kept beyond its
 * session's end, because its mark must tell a second use; rows of a realm go with its clients.
 */
export const LOGIN = `
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
`;
