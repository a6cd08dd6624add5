// What a Postgres dump may hold: the statements of pg_dump 15 to 18 for the schemas of idkit and Keycloak, and no other.
// Owns: the tokens of a statement, the table of statements, the definitions with a call that are let through.
// Must not know: where statements end (dump-psql.ts), files, sets.
// Start at allowed.ts.
export { type CheckedStatement, checkStatement } from './allowed.ts';
