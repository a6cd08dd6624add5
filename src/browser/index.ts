// Browser: the parts of the service that a person sees, which are login, single sign-on, logout and the account pages.
// Owns: the authorization endpoint (authorize/), the stages of a login (login/), required actions (required-actions/),
// the browser's own session (sso/), logout in the browser (logout/), the account pages (account/).
// Must not know: HTTP, HTML, SQL, the system clock.
// Start at authorize/authorize.ts, then login/stage.ts.

export { accountApplications } from './account/applications.ts';
export {
  ACCOUNT_PATHS,
  type AccountApplication,
  type AccountFrame,
  type AccountPage,
  type AccountPageName,
  type AccountSession,
} from './account/pages.ts';
export { accountPassword } from './account/password.ts';
export { accountProfile } from './account/profile.ts';
export { type AccountRepresentation, accountRepresentation } from './account/representation.ts';
export { accountSessions } from './account/sessions.ts';
export { authorize } from './authorize/authorize.ts';
export { isSafeRedirect, matchesRedirects } from './authorize/redirect-uri.ts';
export { type BrowserCall, refuseUnenforced, startEvent, withBrowserCall } from './call.ts';
export type {
  BrowserAnswer,
  BrowserEndpoint,
  BrowserRequest,
  CookieChange,
  LoginPage,
  Message,
  Page,
  PageAnswerName,
  PageField,
  PageFrame,
  StandalonePage,
  WayOn,
} from './contract.ts';
export { preferredLocale } from './locale.ts';
export { submitConsent } from './login/consent.ts';
export { showLogin, submitLogin } from './login/login-form.ts';
export { showRequiredAction, submitRequiredAction } from './login/required-action-page.ts';
export { restartLogin } from './login/restart-login.ts';
export { confirmLogout, requestLogout } from './logout/end-session.ts';
export { frontChannelFrames } from './logout/front-channel-logout.ts';
export { RULE_MESSAGE_KEYS, type RuleMessageKey } from './message-keys.ts';
export { errorPage, type PageMessage, pageAnswer, pageFrame, standalonePage } from './page-frame.ts';
export { REQUIRED_ACTIONS } from './required-actions/table.ts';
export { addChanges, listShownFields } from './required-actions/update-profile.ts';
export { type HintedLogin, readIdTokenHint } from './sso/id-token-hint.ts';
export { clearSsoCookies, makeSsoCookies, newStateChecker, sessionCookieValue } from './sso/sso-cookies.ts';
export { checkSessionFrame, findSsoSession, type SsoSession } from './sso/sso-session.ts';
