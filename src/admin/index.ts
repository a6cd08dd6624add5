// Admin: realm administration as functions that take and return plain values.
// Owns: who may change what (access/), how a change is stored or refused (call/), the records of a realm (realm/,
// client/, role/, user/), their JSON (representation/), a new realm's built-in records (defaults/), the master realm
// (master/), import and export of realms (import/, export/), records that come back from a backup (put-back/).
// Must not know: HTTP, SQL.
// Start at import/import-realm.ts (what a realm consists of), then call/changes.ts, access/rights.ts and user/users.ts.

export { findRights, holdsMasterRole, RIGHTS, type Right, type Rights } from './access/rights.ts';
export { whoAmI } from './access/who-am-i.ts';
export type { AdminContext, Caller, Progress, RealmCall } from './call/context.ts';
export { Pages } from './call/pages.ts';
export * from './call/refusal.ts';
export { ClientUriFault } from './client/build-client.ts';
export * from './client/client-scopes.ts';
export * from './client/clients.ts';
export * from './client/protocol-mappers.ts';
export {
  type ExportedItem,
  exportClientItem,
  exportGroupItem,
  exportRealmItem,
  exportUserItems,
  type ItemSource,
  openItemSource,
} from './export/export-item.ts';
export { exportPartially, exportRealm } from './export/export-realm.ts';
export {
  type ImportedRealms,
  type ImportProgress,
  openImport,
  type PendingImport,
  type Unenforceable,
} from './import/import-files.ts';
export { type ImportedFile, type ImportOptions, importRealm } from './import/import-realm.ts';
export { type IfExists, importPartially } from './import/partial-import.ts';
export { type Environment, resolvePlaceholders } from './import/placeholders.ts';
export { previewImport, previewRealm } from './import/preview.ts';
export type { RealmDirectory } from './import/realm-files.ts';
export { type BootstrapOptions, bootstrapMaster } from './master/bootstrap.ts';
export { findAdminRole, inMasterAdminTurn } from './master/master-access.ts';
export { recoverAdministrator } from './master/recover-administrator.ts';
export { type PutBackOptions, putBack } from './put-back/put-back.ts';
export * from './realm/components.ts';
export * from './realm/events.ts';
export { identityProviders, realmRepresentation } from './realm/realm-representation.ts';
export {
  ADDRESSED,
  addRealm,
  deleteRealm,
  findManagementClient,
  listRealms,
  logoutAll,
  showRealm,
  updateRealm,
} from './realm/realms.ts';
export {
  checkRepresentation,
  checkRepresentations,
  checkText,
} from './representation/check.ts';
export { RepresentationFault } from './representation/fault.ts';
export type { RepresentationName } from './representation/field-types.ts';
export type { Json } from './representation/json.ts';
export * from './role/role-mappings.ts';
export * from './role/roles.ts';
export {
  eraseRealm,
  eraseTrash,
  expiryEvent,
  listDeletedRealms,
  listTrash,
  restoreRealm,
  restoreTrash,
  type TrashQuery,
} from './trash/trash.ts';
export { listConsents, revokeConsent } from './user/consents.ts';
export { getUser } from './user/get-user.ts';
export * from './user/groups.ts';
export { clearLoginFailures, showLoginFailures } from './user/login-failures.ts';
export {
  deleteCredential,
  labelCredential,
  listCredentials,
  resetPassword,
} from './user/passwords.ts';
export { showProfile } from './user/profile.ts';
export * from './user/sessions.ts';
export { countUsers, createUser, deleteUser, listUsers, showUser, updateUser } from './user/users.ts';
