import type { RefusalDetails } from './client-error.ts';
import type { UserClaims } from './token-set.ts';

/**
 * Why nobody is logged in:
 * - `not_logged_in`: nobody was, since this page or program started;
 * - `logout`: by this tab; `logout_elsewhere`: by another tab of the application;
 * - `renewal_refused`: the service no longer takes the refresh token (expired, revoked, used twice, session ended);
 * - `renewal_interrupted`: the tab that renewed for all was closed before it could tell; to use the same refresh
 *   token again would end the whole session at the service;
 * - `access_refused`: the realm or the client is disabled: show an access error, a new login would not help;
 * - `login_failed`: the login came back with an error, such as `access_denied`.
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
 * What an interactive client knows of its user (specification, "Client-side session states"):
 * - `starting`: it is not known yet whether somebody is logged in;
 * - `logged_out`: there are no tokens;
 * - `logging_in`: the browser is on its way to the service, or a login is being completed; there are no tokens;
 * - `logged_in`: there are tokens, and they are renewed as needed.
 */
export type SessionState =
  | { readonly name: 'starting' }
  | ({ readonly name: 'logged_out'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>)
  | { readonly name: 'logging_in' }
  | { readonly name: 'logged_in'; readonly user: UserClaims };

/** What can happen to a session. */
export type SessionEvent =
  | { readonly type: 'tokens'; readonly user: UserClaims }
  | { readonly type: 'login_started' }
  | ({ readonly type: 'ended'; readonly reason: LoggedOutReason } & Readonly<RefusalDetails>);

/** What follows from an event. Tokens are kept in `logged_in` alone: any other state has them cleared first. */
export interface Step {
  readonly state: SessionState;
  /** A login starts by itself. */
  readonly startLogin: boolean;
  /** It comes unexpected, so it is reported (specification, "Events": log and alert). */
  readonly report: boolean;
}

/** Errors that a login would meet again (specification, "Errors": show an access error). */
const ACCESS_ERRORS = ['realm_disabled', 'client_disabled'];

/** Why a refused renewal leaves nobody logged in. */
export function reasonOfRefusal({ status, error }: RefusalDetails): LoggedOutReason {
  // Keycloak 26 answers 403 for a disabled realm (facts §3.1).
  return status === 403 || ACCESS_ERRORS.includes(error ?? '') ? 'access_refused' : 'renewal_refused';
}

/** The next state. A pure function: the whole of the client's session states is here. */
export function nextStep(state: SessionState, event: SessionEvent): Step {
  switch (event.type) {
    case 'tokens':
      return { state: { name: 'logged_in', user: event.user }, startLogin: false, report: false };
    case 'login_started':
      // A second login, as for a change of the user's rights, leaves the first as it is until it is done.
      return {
        state: state.name === 'logged_in' ? state : { name: 'logging_in' },
        startLogin: false,
        report: false,
      };
    case 'ended': {
      const { type: _, ...ended } = event;
      const lost = event.reason === 'renewal_refused' || event.reason === 'renewal_interrupted';
      // Nobody who is not logged in can lose a login: a late word of an old one starts nothing.
      const had = state.name === 'logged_in';
      return {
        state: { name: 'logged_out', ...ended },
        startLogin: lost && had,
        report: had && (lost || event.reason === 'access_refused'),
      };
    }
  }
}
