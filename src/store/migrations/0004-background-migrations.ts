import type { Migration } from './index.ts';

/**
 * Adds the table of background migrations (see background.ts). A migration that has not begun has no row. A new
 * database has a finished row for each of them.
 */
export const BACKGROUND: Migration = {
  sqlite: `
CREATE TABLE background_migration (
  name TEXT PRIMARY KEY NOT NULL,
  position TEXT NOT NULL,
  handled INTEGER NOT NULL,
  finished INTEGER NOT NULL
) WITHOUT ROWID;
`,
  postgres: `
CREATE TABLE background_migration (
  name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
  position TEXT COLLATE "C" NOT NULL,
  handled BIGINT NOT NULL,
  finished INTEGER NOT NULL
);
`,
};
