// Model: the data types, readonly and with the names of Keycloak 26.
// Owns: realm, client, client scope, role, group, user, credential, session, token family, component, event; pure rules
// over them: effective roles, the password policy, the demands that idkit does not enforce.
// Must not know: storage, HTTP. Start at realm.ts, then read session.ts.
export type {
  AuthenticationSession,
  AuthorizationCode,
  AuthorizationRequest,
  Consent,
} from './authentication.ts';
export { type ClientFlow, readClientFlow } from './authentication-flow.ts';
export type { Client, ClientScope, ProtocolMapper } from './client.ts';
export type { AdminEvent, UserEvent } from './event.ts';
export {
  type ClientId,
  type ClientUuid,
  clientId,
  clientUuid,
  type FamilyId,
  familyId,
  type RealmId,
  realmId,
  type SessionId,
  sessionId,
  type TokenHash,
  tokenHash,
} from './ids.ts';
export { listNotBuilt, type WaitingUsers } from './not-built.ts';
export { matchLocale, PAGE_LOCALES, type PageLocale } from './page-locales.ts';
export {
  checkPassword,
  isPasswordTooLong,
  listPasswordRules,
  MOST_PASSWORD_BYTES,
  type PasswordCandidate,
  type PasswordFault,
  type PasswordPolicy,
  type PasswordRule,
  parsePasswordPolicy,
  passwordFault,
} from './password-policy.ts';
export { listProfileFaults, type ProfileFault } from './profile-rules.ts';
export type { Component, Realm, RealmSettings, Unenforced } from './realm.ts';
export type { Secrets } from './record.ts';
export { REVISION, type RecordKind, type Revised, recordKey, userTurn } from './record.ts';
export type { Group, Role } from './role.ts';
export {
  effectiveRoleIds,
  expandRoleIds,
  groupPath,
  groupsWithParents,
  type RoleGraph,
} from './role.ts';
export type { EndingSessions, SessionEndings, TokenFamily, UserSession } from './session.ts';
export {
  accessTokenExpiry,
  clientSessionEnds,
  isAlive,
  isSessionAlive,
  refreshTokenExpiry,
  userSessionEnds,
} from './session-lifetimes.ts';
export { listUnenforced } from './unenforced.ts';
export type { Credential, LoginFailures, User } from './user.ts';
