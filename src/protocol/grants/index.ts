// Grants: one file per grant type, which determines for whom tokens are issued.
// Not decided here: the phases that all grants share (endpoints/token.ts), the tokens themselves (token/issue.ts).
// Start at grant.ts. To add a grant, add one file and one row to table.ts.
export type { FamilyRecord, Grant, GrantRequest, Proof } from './grant.ts';
export { GRANTS, REFUSED_GRANTS } from './table.ts';
