import { openBrowserPeers } from './browser-peers.ts';
import type { BrowserWindow } from './browser-window.ts';
import { ClientError } from './client-error.ts';
import { openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { SessionState } from './session-state.ts';

/** The options of a session in a browser. */
export interface BrowserSessionOptions extends SessionOptions {
  /** The address to which the service redirects after a logout. Default: `redirectUri`. */
  postLogoutRedirectUri?: string;
}

/** A session of a single-page application, which its tabs share. */
export interface BrowserSession extends Session {
  /**
   * Call it once, when the page starts. If a login opened the page, completes that login, else copies the session of
   * another tab. Returns `logged_in` or `logged_out`, and the page then decides whether to call `login()`.
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
 * Opens a session of a single-page application. Tokens stay in memory. The tabs of one origin share them, so each renewal
 * needs one refresh for all tabs.
 *
 * @throws ClientError `not_allowed` if the page is not a secure context (https, or this machine)
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
        throw new ClientError('not_allowed', 'returnTo must have the origin of the page');
      }
      await session.login(asked);
    },
    async start() {
      const here = new URL(location.href);
      const { searchParams } = here;
      const state = searchParams.get('state');
      if (state !== null && (searchParams.has('code') || searchParams.has('error'))) {
        // A response that belongs to no login of this tab (RFC 9700 §4.7) is removed from the address and ignored.
        const pending = pendingLogins.take(state);
        const answer = new URLSearchParams(searchParams);
        for (const name of RESPONSE_PARAMETERS) searchParams.delete(name);
        history.replaceState(history.state, '', pending?.returnTo ?? here.href);
        if (pending !== undefined) {
          await session.receive(answer, state, pending).catch((error) => {
            // The state contains the error with the message of the service.
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
