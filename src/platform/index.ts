// Platform: a token service with its database, behind one contract for every kind of platform. Owns: the kinds
// embedded/ (SQLite), postgres/ (a Postgres server), compose/ (containers), keycloak/ (a process). Must not know:
// procedures, HTTP handlers. Start at contract.ts, then open.ts, which opens the right kind; each kind begins in its
// platform.ts.
export type * from './contract.ts';
export type { Platform } from './platform.ts';
