import type { Migration } from './index.ts';

/**
 * Replaces the tables of sessions and token families with smaller ones: ids are bytes (see `idBytes`), a family has
 * neither the user nor the realm of its session, and one index serves both the key of a family and the families of a
 * session. The previous tables keep their rows under the names `user_session_0` and `token_family_0` until the
 * background migration `session rows` has moved them.
 *
 * Postgres removes the rows of ended sessions (autovacuum) when they are 2 % of a table. By default it waits for 20 %, so
 * the tables of 10,000,000 sessions would grow for an hour before any space is used again.
 */
export const SESSION_ROWS: Migration = {
  needsStop: true,
  sqlite: `
ALTER TABLE user_session RENAME TO user_session_0;
ALTER TABLE token_family RENAME TO token_family_0;
CREATE TABLE user_session (
  id BLOB NOT NULL,
  offline INTEGER NOT NULL,
  user_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  last_access_at INTEGER NOT NULL,
  remember_me INTEGER NOT NULL,
  look_again INTEGER NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (id, offline)
) WITHOUT ROWID;
CREATE INDEX user_session_of_user ON user_session (user_id);
CREATE INDEX user_session_due ON user_session (look_again);
CREATE TABLE token_family (
  session_id BLOB NOT NULL,
  id BLOB NOT NULL,
  offline INTEGER NOT NULL,
  client_uuid BLOB NOT NULL,
  current_hash BLOB NOT NULL,
  parent_hash BLOB,
  parent_uses INTEGER NOT NULL,
  scope TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_refresh_at INTEGER NOT NULL,
  notes TEXT NOT NULL,
  PRIMARY KEY (session_id, id),
  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX token_family_of_client ON token_family (client_uuid, offline, session_id);
`,
  postgres: `
ALTER TABLE user_session RENAME TO user_session_0;
ALTER TABLE token_family RENAME TO token_family_0;
ALTER INDEX user_session_pkey RENAME TO user_session_0_pkey;
ALTER INDEX token_family_pkey RENAME TO token_family_0_pkey;
CREATE TABLE user_session (
  started_at BIGINT NOT NULL,
  last_access_at BIGINT NOT NULL,
  look_again INTEGER NOT NULL,
  offline SMALLINT NOT NULL,
  remember_me SMALLINT NOT NULL,
  id BYTEA NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  doc TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (id, offline)
) WITH (fillfactor = 95, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX user_session_of_user ON user_session (user_id);
CREATE INDEX user_session_due ON user_session (look_again);
CREATE TABLE token_family (
  started_at BIGINT NOT NULL,
  last_refresh_at BIGINT NOT NULL,
  parent_uses INTEGER NOT NULL,
  offline SMALLINT NOT NULL,
  session_id BYTEA NOT NULL,
  id BYTEA NOT NULL,
  client_uuid BYTEA NOT NULL,
  current_hash BYTEA NOT NULL,
  parent_hash BYTEA,
  scope TEXT COLLATE "C" NOT NULL,
  notes TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (session_id, id),
  FOREIGN KEY (session_id, offline) REFERENCES user_session (id, offline) ON DELETE CASCADE
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX token_family_of_client ON token_family (client_uuid, offline, session_id);
`,
};
