// Platform: one contract, "the platform, running", and its kinds.
// Owns: embedded/ (SQLite), postgres/ (a Postgres server), compose/ (containers), keycloak/ (Keycloak as a process).
// Must not know: procedures.
// Start at contract.ts; open.ts is the door to the kinds.
export type * from './components.ts';
export type * from './contract.ts';
