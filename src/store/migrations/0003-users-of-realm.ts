import type { Migration } from './index.ts';

/** Adds an index of a realm's users in the order of their ids. Ids do not change, so updates stay HOT. */
export const USERS_OF_REALM: Migration = {
  sqlite: `
CREATE INDEX IF NOT EXISTS account_realm ON account (realm_id, id);
`,
  postgres: `
CREATE INDEX IF NOT EXISTS account_realm ON account (realm_id, id);
`,
};
