// Admin: realm administration as functions of plain values.
// Owns: representations, import and export, what an administrator may do.
// Must not know: HTTP, SQL.
// Start at import/import-realm.ts (what a realm is made of), then realm-call.ts, rights.ts and users.ts.

export { clearLoginFailures, showLoginFailures } from './attack-detection.ts';
export { type BootstrapOptions, bootstrapMaster } from './bootstrap.ts';
export * from './client-scopes.ts';
export * from './clients.ts';
export * from './components.ts';
export { listConsents, revokeConsent } from './consents.ts';
export type { AdminContext, Caller } from './context.ts';
export * from './events.ts';
export { exportRealm } from './export/export-realm.ts';
export { identityProviders, realmRepresentation, roleRepresentation } from './export/realm-representation.ts';
export { getUser } from './get-user.ts';
export * from './groups.ts';
export { ClientUriFault } from './import/client-uris.ts';
export { type ImportedFile, type ImportOptions, importRealm } from './import/import-realm.ts';
export { findAdminRole, inMasterAdminTurn } from './import/master-access.ts';
export { parseRealmFile } from './import/parse-realm-file.ts';
export { type Environment, resolvePlaceholders } from './import/placeholders.ts';
export type { Progress } from './import/progress.ts';
export { Pages } from './pages.ts';
export { type IfExists, importPartially } from './partial-import.ts';
export {
  deleteCredential,
  labelCredential,
  listCredentials,
  resetPassword,
} from './passwords.ts';
export type { RealmCall } from './realm-call.ts';
export {
  ADDRESSED,
  addRealm,
  deleteRealm,
  findManagementClient,
  listRealms,
  logoutAll,
  showRealm,
  updateRealm,
} from './realms.ts';
export { recoverAdministrator } from './recover-administrator.ts';
export * from './refusal.ts';
export {
  checkRepresentation,
  checkRepresentations,
  checkText,
} from './representations/check.ts';
export { RepresentationFault } from './representations/fault.ts';
export type { RepresentationName } from './representations/fields.ts';
export type { Json } from './representations/json.ts';
export { findRights, holdsMasterRole, RIGHTS, type Right, type Rights } from './rights.ts';
export * from './role-mappings.ts';
export * from './roles.ts';
export * from './sessions.ts';
export { countUsers, createUser, deleteUser, listUsers, showUser, updateUser } from './users.ts';
export { whoAmI } from './who-am-i.ts';
