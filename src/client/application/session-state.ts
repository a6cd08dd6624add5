import type { RefusalDetails } from './client-error.ts';
import type { UserClaims } from './token-set.ts';

/**
 * Why the session is logged out:
 * - `not_logged_in`: no user has logged in since this page or program started.
 * - `logout`: the user logged out in this tab. `logout_elsewhere`: the user logged out in another tab of the
 *   application.
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
 * - `logged_out`: the session has no tokens.
 * - `logging_in`: the user is at the service, or the session completes the login. It has no tokens yet.
 * - `logged_in`: the session has tokens, and renews them as needed.
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

/** The result of an event. Before the session enters a state other than `logged_in`, it discards its tokens. */
export interface Step {
  readonly state: SessionState;
  /** Whether the session starts a new login itself. */
  readonly startLogin: boolean;
  /** Whether the session reports the event to `onUnexpectedLogin`. */
  readonly report: boolean;
}

/** Errors with which a new login would fail too. */
const ACCESS_ERRORS = ['realm_disabled', 'client_disabled'];

/** Returns the reason for the logged-out state after the service rejected a refresh. */
export function reasonOfRefusal({ status, error }: RefusalDetails): LoggedOutReason {
  // Keycloak 26 responds with 403 if the realm is disabled.
  return status === 403 || ACCESS_ERRORS.includes(error ?? '') ? 'access_refused' : 'renewal_refused';
}

/** Returns the next state of a session. All transitions are in this function, which has no side effects. */
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
