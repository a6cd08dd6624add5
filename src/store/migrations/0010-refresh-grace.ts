import type { Migration } from './index.ts';

/**
 * Adds two columns for `refreshGraceSeconds`. `successor` is the sealed refresh token that the parent was exchanged for.
 * `repeats` counts the generations in a row that were issued more than once (see `Rotation` in the contract). Both are
 * null, and take no space, in a realm without a grace period.
 */
export const REFRESH_GRACE: Migration = {
  sqlite: `
ALTER TABLE token_family ADD COLUMN successor BLOB;
ALTER TABLE token_family ADD COLUMN repeats INTEGER;
`,
  postgres: `
ALTER TABLE token_family ADD COLUMN successor BYTEA;
ALTER TABLE token_family ADD COLUMN repeats SMALLINT;
`,
};
