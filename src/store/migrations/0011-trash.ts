import type { Migration } from './index.ts';

/**
 * Adds the bin. `trash` has a row for each deleted record that can be restored. `trash_part` has the rows that were
 * removed together with it, as JSON. The id of a part is `ENTRY/TABLE/KEY`, so all parts of an entry, and those of one
 * table, are a range of the primary key. `sealed` is the encrypted blob of the removed row, with the same identity.
 */
export const TRASH: Migration = {
  sqlite: `
CREATE TABLE trash (
  id TEXT PRIMARY KEY NOT NULL,
  realm_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  record_id TEXT NOT NULL,
  name TEXT NOT NULL,
  state INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  owner_id TEXT,
  doc TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX trash_realm ON trash (realm_id, deleted_at);
CREATE INDEX trash_record ON trash (record_id);
CREATE INDEX trash_expiry ON trash (expires_at);
CREATE INDEX trash_owner ON trash (owner_id) WHERE owner_id IS NOT NULL;
CREATE TABLE trash_part (
  id TEXT PRIMARY KEY NOT NULL,
  doc TEXT NOT NULL,
  sealed BLOB
) WITHOUT ROWID;
CREATE INDEX trash_part_sealed ON trash_part (id) WHERE sealed IS NOT NULL;
`,
  postgres: `
CREATE TABLE trash (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  realm_id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  record_id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  state INTEGER NOT NULL,
  deleted_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  owner_id TEXT COLLATE "C",
  doc TEXT COLLATE "C" NOT NULL
);
CREATE INDEX trash_realm ON trash (realm_id, deleted_at);
CREATE INDEX trash_record ON trash (record_id);
CREATE INDEX trash_expiry ON trash (expires_at);
CREATE INDEX trash_owner ON trash (owner_id) WHERE owner_id IS NOT NULL;
CREATE TABLE trash_part (
  id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  doc TEXT COLLATE "C" NOT NULL,
  sealed BYTEA
);
CREATE INDEX trash_part_sealed ON trash_part (id) WHERE sealed IS NOT NULL;
`,
};
