// Protocol: OAuth 2 and OpenID Connect rules as functions of plain values.
// Owns: the endpoints that clients call, their grants, tokens, sessions, keys and claims, and user authentication.
// Must not know: HTTP, HTML, SQL, the wall clock, the pages of the browser.
// Start at endpoints/token.ts: it names the phases of a grant and calls every folder on the way.

export { isAllowedOrigin } from './client/index.ts';
export type { Answer, EventSink, ProtocolContext, ProtocolRequest } from './context.ts';
export {
  discoveryDocument,
  findRefreshToken,
  type Introspection,
  introspectToken,
  logoutByRefreshToken,
  publishedKeys,
  type RealmInfo,
  realmInfo,
  requestTokens,
  revokeToken,
  userInfo,
} from './endpoints/index.ts';
export { EventDraft } from './events.ts';
export { audienceOf, numberClaim, textClaim, verifyRealmJwt } from './jwt.ts';
export { type KeyRing, openKeyRing, type RealmKey } from './keys/index.ts';
export { changePassword, onBehalfOf, type PasswordChange, senderOf } from './login/index.ts';
export {
  type FieldFault,
  listProfileFields,
  type ProfileChange,
  type ProfileField,
  saveProfile,
} from './profile/index.ts';
export { checkEnforceable, checkRealmEnabled, checkTransport, getRealm, issuerOf } from './realm.ts';
export { Refusal, type RefusalCase, type RefusalOptions } from './refusal.ts';
export { openLogoutAnnouncer, type PostForm } from './session/index.ts';
export {
  type ActiveToken,
  findIssuerRealm,
  type RefusedToken,
  type TokenResponse,
  type VerifiedClaims,
  verifyAccessToken,
} from './token/index.ts';
