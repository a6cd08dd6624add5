// The login in a browser: the authorization endpoint, the steps of a login, single sign-on, logout by the browser.
// Must not know: HTTP, HTML, the account pages' rules.
// Start at authorize.ts, then next-step.ts.
export { listShownFields, tellChanges } from './actions/update-profile.ts';
export { authorize } from './authorize.ts';
export { type BrowserCall, refuseUnenforced, startEvent, withBrowserCall } from './call.ts';
export { submitConsent } from './consent.ts';
export type {
  BrowserAnswer,
  BrowserEndpoint,
  BrowserRequest,
  CookieChange,
  LoginPage,
  Page,
  PageFrame,
  StandalonePage,
} from './contract.ts';
export { confirmLogout, requestLogout } from './end-session.ts';
export { frontChannelFrames } from './front-channel-logout.ts';
export { type HintedLogin, readIdTokenHint } from './id-token-hint.ts';
export { PAGE_LOCALES } from './locale.ts';
export { showLogin, submitLogin } from './login-form.ts';
export { RULE_MESSAGE_KEYS, type RuleMessageKey } from './message-keys.ts';
export { errorPage, type PageMessage, pageAnswer, pageFrame, standalonePage } from './page-frame.ts';
export { isSafeRedirect, matchesRedirects } from './redirect-uri.ts';
export { showRequiredAction, submitRequiredAction } from './required-action.ts';
export { restartLogin } from './restart-login.ts';
export { clearSsoCookies, makeSsoCookies, newStateChecker, sessionCookieValue } from './sso-cookies.ts';
export { findSsoSession, type SsoSession } from './sso-session.ts';
