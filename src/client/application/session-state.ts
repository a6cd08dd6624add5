import type { RefusalDetails } from './client-error.ts';
import type { UserClaims } from './token-set.ts';

/**
 * Why no user is logged in:
 * - `not_logged_in`: no user has logged in since this page or program started;
 * - `logout`: this tab logged out; `logout_elsewhere`: another tab of the application did;
 * - `renewal_refused`: the service rejects the refresh token (expired, revoked, used twice, session ended);
 * - `renewal_interrupted`: the tab that renewed for all tabs was closed before it reported the result; using the same
 *   refresh token again would end the whole session at the service;
 * - `access_refused`: the realm or the client is disabled; show an access error, because a new login would fail too;
 * - `login_failed`: the login ended with an error, such as `access_denied`.
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
 * The states of an interactive client:
 * - `starting`: the client does not know yet whether a user is logged in;
 * - `logged_out`: there are no tokens;
 * - `logging_in`: the browser opens the login page, or the client completes a login; there are no tokens;
 * - `logged_in`: there are tokens, which are renewed as needed.
 */
export type SessionState =
  | { readonly name: 'starting' }
  | ({ readonly name: 'logged_out'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>)
  | { readonly name: 'logging_in' }
  | { readonly name: 'logged_in'; readonly user: UserClaims };

/** The events of a session. */
export type SessionEvent =
  | { readonly type: 'tokens'; readonly user: UserClaims }
  | { readonly type: 'login_started' }
  | ({ readonly type: 'ended'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>);

/** The result of an event. Only `logged_in` has tokens: they are cleared before any other state begins. */
export interface Step {
  readonly state: SessionState;
  /** Whether a login starts automatically. */
  readonly startLogin: boolean;
  /** Whether the event is unexpected and is reported, for a log line and an alert. */
  readonly report: boolean;
}

/** Errors that a new login would return again. */
const ACCESS_ERRORS = ['realm_disabled', 'client_disabled'];

/** Returns the reason for which a refused renewal ends the session. */
export function reasonOfRefusal({ status, error }: RefusalDetails): LoggedOutReason {
  // Keycloak 26 answers 403 for a disabled realm.
  return status === 403 || ACCESS_ERRORS.includes(error ?? '') ? 'access_refused' : 'renewal_refused';
}

/** Returns the next state. This pure function decides all state transitions of a session. */
export function nextStep(state: SessionState, event: SessionEvent): Step {
  switch (event.type) {
    case 'tokens':
      return { state: { name: 'logged_in', user: event.user }, startLogin: false, report: false };
    case 'login_started':
      // A second login, for example after a change of the user's rights, keeps the first until it completes.
      return {
        state: state.name === 'logged_in' ? state : { name: 'logging_in' },
        startLogin: false,
        report: false,
      };
    case 'ended': {
      const { type: _, ...ended } = event;
      const lost = event.reason === 'renewal_refused' || event.reason === 'renewal_interrupted';
      // Without a login there is nothing to lose, so a late message about an old session starts no login.
      const had = state.name === 'logged_in';
      return {
        state: { name: 'logged_out', ...ended },
        startLogin: lost && had,
        report: had && (lost || event.reason === 'access_refused'),
      };
    }
  }
}
