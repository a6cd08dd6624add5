// The administrative API over HTTP: authenticates the caller, and has the right and the written records of each row.
// Not decided here: what a caller may change in a record (src/admin).
// Start at admin-row.ts (a row), routes.ts (all rows) and run-row.ts (how a row runs).

export type { AdminRow, Written } from './admin-row.ts';
export { adminRoutes, adminRows } from './routes.ts';
