// Grants: one file per grant type, which proves for whom tokens are issued.
// Not decided here: the phases around the proof (endpoints/token.ts), the tokens themselves (token/issue.ts).
// Start at grant.ts. A grant is one file and one row of table.ts.
export type { FamilyRecord, Grant, GrantRequest, Proof } from './grant.ts';
export { GRANTS, REFUSED_GRANTS } from './table.ts';
