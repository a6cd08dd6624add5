import { None } from 'oauth4webapi';
import { openBrowserPeers } from './browser-peers.ts';
import { isSecureWindow } from './browser-window.ts';
import { ClientError } from './client-error.ts';
import { openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';
import type { SessionState } from './session-state.ts';

/** Options of a session in a browser. */
export interface BrowserSessionOptions extends SessionOptions {
  /** Address to which the service sends the user after a logout. Default: `redirectUri`. */
  postLogoutRedirectUri?: string;
  /**
   * When `start()` gets tokens with a redirect that shows no page, if no other tab has tokens and the user is still
   * logged in at the service:
   * - `after_reload`: if this tab had tokens before the page was loaded. This is the default, because a reload discards
   *   the tokens.
   * - `always`: at each start, which costs visitors without a session a redirect.
   * - `never`.
   */
  silentLogin?: 'after_reload' | 'always' | 'never';
}

/** A user's session in a single-page application. All tabs of the application share it. */
export interface BrowserSession extends Session {
  /**
   * Completes a login if the service sent the user to this page; otherwise takes over the session of another tab, or
   * begins a silent login (see `silentLogin`). Call it once, when the page starts. The promise resolves with the state:
   * `logged_in`, `logged_out`, or `logging_in` if the page leaves for a silent login. It does not reject if the login
   * failed. The page decides whether to call `login()` then.
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
 * Opens the session of a single-page application. Tokens are in memory only. The tabs of one origin share them, so a
 * renewal costs one refresh, however many tabs are open.
 *
 * @throws ClientError `not_allowed` if the page is not a secure context (https, or a loopback address)
 * @throws TypeError if `issuer` is not an https address
 */
export function openBrowserSession(options: BrowserSessionOptions): BrowserSession {
  const window: unknown = globalThis;
  if (!isSecureWindow(window)) {
    throw new ClientError('not_allowed', 'a session needs a page that the browser loaded over https');
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
  // Remembers, for the next page in this tab, that there was a session. It is not a token.
  const marker = `${key} logged in`;
  const onChange = (state: SessionState): void => {
    if (state.name === 'logged_in') sessionStorage.setItem(marker, 'yes');
    else if (state.name === 'logged_out') sessionStorage.removeItem(marker);
    options.onChange?.(state);
  };
  const session = openSession(
    { ...options, onChange },
    {
      initial: { name: 'starting' },
      // The number changes with the messages, so that tabs with another version of the library are ignored.
      peers: openBrowserPeers(window, `${key} 2`),
      clock: {
        now: () => Date.now(),
        after(milliseconds, work) {
          const timer = setTimeout(work, milliseconds);
          return () => clearTimeout(timer);
        },
      },
      origins: [location.origin],
      authenticate: async () => None(),
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
        const returnTo = options.postLogoutRedirectUri ?? options.redirectUri;
        url.searchParams.set('post_logout_redirect_uri', returnTo);
        location.assign(url.href);
      },
    },
  );
  /** Begins a silent login. A service that does not respond keeps the user's chance for the next start. */
  const loginSilently = async (): Promise<void> => {
    // Without the marker, a service that returns no session does not cause another redirect.
    sessionStorage.removeItem(marker);
    try {
      await session.loginSilently(location.href);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      session.giveUp('login_failed', error);
      sessionStorage.setItem(marker, 'yes');
    }
  };
  return {
    get state() {
      return session.state;
    },
    accessToken: session.accessToken,
    fetch: session.fetch,
    logout: session.logout,
    close: session.close,
    async login(loginOptions = {}) {
      const { returnTo } = loginOptions;
      if (returnTo !== undefined && new URL(returnTo, location.href).origin !== location.origin) {
        throw new ClientError('not_allowed', `returnTo must be an address of ${location.origin}`);
      }
      await session.login(loginOptions);
    },
    async start() {
      const here = new URL(location.href);
      const { searchParams } = here;
      const state = searchParams.get('state');
      if (state !== null && (searchParams.has('code') || searchParams.has('error'))) {
        // Every response to a login is removed from the address. A response to a login that this tab did not start is
        // ignored (RFC 9700 §4.7).
        const pending = pendingLogins.take(state);
        const response = new URLSearchParams(searchParams);
        for (const name of RESPONSE_PARAMETERS) searchParams.delete(name);
        history.replaceState(history.state, '', pending?.returnTo ?? here.href);
        if (pending !== undefined) {
          await session.receive(response, state, pending).catch((error) => {
            // Ignores a ClientError, because the session's state contains the service's error.
            if (!(error instanceof ClientError)) throw error;
          });
          return session.state;
        }
      }
      const { silentLogin = 'after_reload' } = options;
      const hadTokens = sessionStorage.getItem(marker) !== null;
      if (await session.join()) return session.state;
      if (silentLogin === 'always' || (silentLogin === 'after_reload' && hadTokens)) await loginSilently();
      else session.giveUp('not_logged_in');
      return session.state;
    },
  };
}
