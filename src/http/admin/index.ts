// Rows of the URL table below /admin/realms.
// Owns: proving the caller, reading bodies and parameters.
// Must not know: what an administrator may do (admin decides).
// Start at define.ts.
export { adminRoutes } from './routes.ts';
