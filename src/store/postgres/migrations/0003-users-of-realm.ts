/** Finds a user of a realm from any place in the order of their ids; ids do not change, so updates stay HOT. */
export const USERS_OF_REALM = `
CREATE INDEX IF NOT EXISTS account_realm ON account (realm_id, id);
`;
