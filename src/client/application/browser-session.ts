import { openBrowserPeers } from './browser-peers.ts';
import type { BrowserWindow } from './browser-window.ts';
import { ClientError } from './client-error.ts';
import { openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { SessionState } from './session-state.ts';

/** What a session in a browser is told. */
export interface BrowserSessionOptions extends SessionOptions {
  /** Where the service sends the user after a logout; `redirectUri` unless told. */
  postLogoutRedirectUri?: string;
}

/** A session of a single-page application, shared by its tabs. */
export interface BrowserSession extends Session {
  /**
   * To be called once, when the page starts: completes a login where the page was opened by one, else takes over the
   * session of another tab. Answers `logged_in` or `logged_out`; whether to `login()` then is the page's own affair.
   */
  start(): Promise<SessionState>;
}

const RESPONSE_PARAMETERS = [
  'code',
  'state',
  'iss',
  'session_state',
  'error',
  'error_description',
  'error_uri',
];

/**
 * A session of a single-page application. Tokens are in memory only; the tabs of one origin share them, so that each
 * renewal costs one refresh however many tabs are open.
 *
 * @throws ClientError `not_allowed` where the page is no secure context (https, or this machine)
 */
export function openBrowserSession(options: BrowserSessionOptions): BrowserSession {
  const window = globalThis as unknown as BrowserWindow;
  if (window.navigator?.locks === undefined) {
    throw new ClientError('not_allowed', 'a session needs a page that was loaded over https');
  }
  const { location, sessionStorage, history, document } = window;
  const key = `idkit ${options.issuer} ${options.clientId}`;
  const pendingLogins = openPendingLogins(
    () => JSON.parse(sessionStorage.getItem(key) ?? '[]'),
    (kept) => {
      if (kept.length === 0) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(kept));
    },
  );
  const session = openSession(options, {
    initial: { name: 'starting' },
    peers: openBrowserPeers(window, key),
    clock: {
      now: () => Date.now(),
      after(milliseconds, work) {
        const timer = setTimeout(work, milliseconds);
        return () => clearTimeout(timer);
      },
    },
    origins: [location.origin],
    keepLogin(state, pending) {
      pendingLogins.keep(state, { returnTo: location.href, ...pending });
    },
    open: (url) => location.assign(url),
    whenSeen(work) {
      if (document.visibilityState !== 'hidden') work();
      else document.addEventListener('visibilitychange', work, { once: true });
    },
    async endSession(_, server, { idToken }) {
      if (server.end_session_endpoint === undefined) return;
      const url = new URL(server.end_session_endpoint);
      url.searchParams.set('client_id', options.clientId);
      if (idToken !== undefined) url.searchParams.set('id_token_hint', idToken);
      const back = options.postLogoutRedirectUri ?? options.redirectUri;
      url.searchParams.set('post_logout_redirect_uri', back);
      location.assign(url.href);
    },
  });
  return {
    get state() {
      return session.state;
    },
    accessToken: session.accessToken,
    fetch: session.fetch,
    logout: session.logout,
    close: session.close,
    async login(asked = {}) {
      if (asked.returnTo !== undefined && new URL(asked.returnTo, location.href).origin !== location.origin) {
        throw new ClientError('not_allowed', 'returnTo must lie on the page’s own origin');
      }
      await session.login(asked);
    },
    async start() {
      const here = new URL(location.href);
      const { searchParams } = here;
      const state = searchParams.get('state');
      if (state !== null && (searchParams.has('code') || searchParams.has('error'))) {
        // An answer that no login of this tab asked for (RFC 9700 §4.7) is taken out of the address and ignored.
        const pending = pendingLogins.take(state);
        const answer = new URLSearchParams(searchParams);
        for (const name of RESPONSE_PARAMETERS) searchParams.delete(name);
        history.replaceState(history.state, '', pending?.returnTo ?? here.href);
        if (pending !== undefined) {
          await session.receive(answer, state, pending).catch((error) => {
            // The state says what went wrong, in the service's words.
            if (!(error instanceof ClientError)) throw error;
          });
          return session.state;
        }
      }
      await session.join();
      return session.state;
    },
  };
}
