// Admin: realm administration as functions of plain values.
// Owns: representations, import and export, what an administrator may do.
// Must not know: HTTP, SQL.
// Start at context.ts.
export { type BootstrapOptions, bootstrapMaster } from './bootstrap.ts';
export type { AdminContext, Caller } from './context.ts';
export { exportRealm } from './export/export-realm.ts';
export { realmRepresentation } from './export/realm-representation.ts';
export { type FreshRealmOptions, freshRealm } from './fresh/fresh-realm.ts';
export { type ImportedRealm, type ImportOptions, importRealm } from './import/import-realm.ts';
export { parseRealmFile } from './import/parse-realm-file.ts';
export { recoverAdministrator } from './recover-administrator.ts';
