// The administrative API over HTTP: authenticates callers, and has a table of all routes with the right that each
// requires and the records that it writes.
// Not decided here: what a caller may change in a record (src/admin).
// Start at admin-row.ts (one row of the table), routes.ts (all rows) and run-row.ts (how the route of a row runs).

export type { AdminRow, Written } from './admin-row.ts';
export { adminRoutes, adminRows } from './routes.ts';
