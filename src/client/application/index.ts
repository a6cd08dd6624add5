// Client for applications: `idkit/client`, in browsers and in Node.js.
// Owns: a user's session (login, renewal, logout) and the cache of machine-to-machine tokens, based on oauth4webapi.
// Must not know: the service, Node.js, the rest of this package.
// Start at session.ts; session-state.ts contains the states.
export {
  type BrowserSession,
  type BrowserSessionOptions,
  openBrowserSession,
} from './browser-session.ts';
export { ClientError, type ClientErrorCode, type RefusalDetails } from './client-error.ts';
export type { ClientSecret } from './client-secret.ts';
export { type NativeSession, type NativeSessionOptions, openNativeSession } from './native-session.ts';
export type { ProviderOptions } from './provider.ts';
export { openServiceTokens, type ServiceTokenOptions, type ServiceTokens } from './service-tokens.ts';
export type { LoginOptions, Session, SessionOptions, UnexpectedLogin } from './session.ts';
export type { LoggedOutReason, SessionState } from './session-state.ts';
export type { UserClaims } from './token-set.ts';
