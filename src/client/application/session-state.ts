import type { RefusalDetails } from './client-error.ts';
import type { UserClaims } from './token-set.ts';

/**
 * Why the session is logged out:
 * - `not_logged_in`: no user has logged in since this page or program started.
 * - `logout`: this tab logged out. `logout_elsewhere`: another tab of the application logged out.
 * - `renewal_refused`: the service rejected the refresh token (expired, revoked, used twice, or its session ended).
 * - `renewal_interrupted`: the tab that renewed for all tabs closed before it shared the result. A second use of the
 *   same refresh token would end the whole session at the service.
 * - `access_refused`: the realm or the client is disabled. Show an access error; a new login would fail too.
 * - `login_failed`: the login returned an error, such as `access_denied`.
 */
export type LoggedOutReason =
  | 'not_logged_in'
  | 'logout'
  | 'logout_elsewhere'
  | 'renewal_refused'
  | 'renewal_interrupted'
  | 'access_refused'
  | 'login_failed';

/**
 * The state of a user's session in an application:
 * - `starting`: the session does not know yet whether a user is logged in.
 * - `logged_out`: there are no tokens.
 * - `logging_in`: the browser is on its way to the service, or the session completes a login. There are no tokens.
 * - `logged_in`: there are tokens, and the session renews them as needed.
 */
export type SessionState =
  | { readonly name: 'starting' }
  | ({ readonly name: 'logged_out'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>)
  | { readonly name: 'logging_in' }
  | { readonly name: 'logged_in'; readonly user: UserClaims };

/** An event that can change the state of a session. */
export type SessionEvent =
  | { readonly type: 'tokens'; readonly user: UserClaims }
  | { readonly type: 'login_started' }
  | ({ readonly type: 'ended'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>);

/** The result of an event. The session clears its tokens before it enters any state but `logged_in`. */
export interface Step {
  readonly state: SessionState;
  /** The session starts a login without a call of the application. */
  readonly startLogin: boolean;
  /** The session reports the event to `onUnexpectedLogin`. */
  readonly report: boolean;
}

/** Errors that a new login would get too. */
const ACCESS_ERRORS = ['realm_disabled', 'client_disabled'];

/** Maps the service's rejection of a refresh to the reason of the logged-out state. */
export function reasonOfRefusal({ status, error }: RefusalDetails): LoggedOutReason {
  // Keycloak 26 answers 403 for a disabled realm.
  return status === 403 || ACCESS_ERRORS.includes(error ?? '') ? 'access_refused' : 'renewal_refused';
}

/** Returns the next state. A pure function that holds all transitions of a session. */
export function nextStep(state: SessionState, event: SessionEvent): Step {
  switch (event.type) {
    case 'tokens':
      return { state: { name: 'logged_in', user: event.user }, startLogin: false, report: false };
    case 'login_started':
      // During a second login, for example to get new roles, the first session stays usable.
      return {
        state: state.name === 'logged_in' ? state : { name: 'logging_in' },
        startLogin: false,
        report: false,
      };
    case 'ended': {
      const { type: _, ...ended } = event;
      const lost = event.reason === 'renewal_refused' || event.reason === 'renewal_interrupted';
      // A late event of an earlier session must not start a login.
      const wasLoggedIn = state.name === 'logged_in';
      return {
        state: { name: 'logged_out', ...ended },
        startLogin: lost && wasLoggedIn,
        report: wasLoggedIn && (lost || event.reason === 'access_refused'),
      };
    }
  }
}
