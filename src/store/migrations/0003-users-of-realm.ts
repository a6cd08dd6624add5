import type { Migration } from './index.ts';

/** Finds a user of a realm from any place in the order of the ids. Ids do not change, so updates stay HOT. */
export const USERS_OF_REALM: Migration = {
  sqlite: `
CREATE INDEX IF NOT EXISTS account_realm ON account (realm_id, id);
`,
  postgres: `
CREATE INDEX IF NOT EXISTS account_realm ON account (realm_id, id);
`,
};
