// Protocol: OAuth 2 and OpenID Connect rules as functions of plain values.
// Owns: the token endpoint and its grants, revocation, logout, introspection, user info, keys, claims, discovery; the
// authorization endpoint and the login in a browser (browser/), the account pages (account/).
// Must not know: HTTP, HTML, SQL, the wall clock.
// Start at token-endpoint.ts, and for the browser at browser/authorize.ts, then browser/next-step.ts.
export {
  type ActiveToken,
  findIssuerRealm,
  type RefusedToken,
  type VerifiedClaims,
  verifyAccessToken,
} from './access-token.ts';
export { accountApplications } from './account/applications.ts';
export {
  ACCOUNT_PATHS,
  type AccountApplication,
  type AccountFrame,
  type AccountPage,
  type AccountPageName,
  type AccountSession,
} from './account/contract.ts';
export { accountPassword } from './account/password.ts';
export { accountProfile } from './account/profile.ts';
export { type AccountRepresentation, accountRepresentation } from './account/representation.ts';
export { accountSessions } from './account/sessions.ts';
export type { Answer } from './answer.ts';
export {
  authorize,
  type BrowserAnswer,
  type BrowserEndpoint,
  type BrowserRequest,
  type CookieChange,
  clearSsoCookies,
  confirmLogout,
  errorPage,
  findSsoSession,
  type HintedLogin,
  isSafeRedirect,
  type LoginPage,
  makeSsoCookies,
  matchesRedirects,
  PAGE_LOCALES,
  type Page,
  type PageFrame,
  type PageMessage,
  pageAnswer,
  pageFrame,
  RULE_MESSAGE_KEYS,
  type RuleMessageKey,
  readIdTokenHint,
  requestLogout,
  restartLogin,
  type SsoSession,
  type StandalonePage,
  sessionCookieValue,
  showLogin,
  showRequiredAction,
  standalonePage,
  submitConsent,
  submitLogin,
  submitRequiredAction,
} from './browser/index.ts';
export { changePassword, type PasswordChange } from './change-password.ts';
export type { EventSink, ProtocolContext, ProtocolRequest } from './context.ts';
export { isAllowedOrigin } from './cors.ts';
export { discoveryDocument } from './discovery.ts';
export { onBehalfOf, senderOf } from './hash-caller.ts';
export { type Introspection, introspectToken } from './introspection.ts';
export type { TokenResponse } from './issue.ts';
export { type KeyRing, openKeyRing, type RealmKey } from './keys/index.ts';
export { findRefreshToken, logoutByRefreshToken } from './logout.ts';
export { openLogoutAnnouncer, type PostForm } from './logout-announcer.ts';
export type { Message, PageField } from './page-parts.ts';
export {
  type FieldFault,
  listProfileFields,
  type ProfileChange,
  type ProfileField,
  saveProfile,
} from './profile-form.ts';
export { publishedKeys } from './published-keys.ts';
export { checkTransport, getRealm, issuerOf } from './realm-gate.ts';
export { type RealmInfo, realmInfo } from './realm-info.ts';
export { Refusal, type RefusalCase, type RefusalOptions } from './refusal.ts';
export { revokeToken } from './revocation.ts';
export { checkSessionFrame } from './session-frame.ts';
export { requestTokens } from './token-endpoint.ts';
export { userInfo } from './user-info.ts';
