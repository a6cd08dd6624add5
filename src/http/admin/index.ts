// Rows of the URL table below /admin/realms.
// Owns: proving the caller, the right and the written records of each row as data, reading bodies and parameters.
// Must not know: what an administrator may do to one record or another (admin decides).
// Start at row.ts (what a row is), routes.ts (all of them) and run-row.ts (how one runs).

export type { AdminRow, Written } from './admin-row.ts';
export { adminRoutes, adminRows } from './routes.ts';
