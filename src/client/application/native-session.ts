import * as oauth from 'oauth4webapi';
import { ClientError } from './client-error.ts';
import { type ClientSecret, readSecret } from './client-secret.ts';
import { NO_PEERS } from './peers.ts';
import { type KeptLogins, openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** Options of a session in a program other than a browser: a command-line or desktop program, or a server. */
export interface NativeSessionOptions extends SessionOptions {
  /**
   * Opens a page of the service in the user's browser (RFC 8252). A server redirects the browser to the page. If the
   * function throws, `login()` rejects with the code `callback_failed`.
   */
  openUrl(url: string): void | Promise<void>;
  /**
   * The secret of a confidential client, such as a server that logs people in. A program that people install cannot
   * keep a secret, so its client is public. Each request to the service calls the function, so the secret can change at
   * run time. Default: a public client.
   */
  clientSecret?: ClientSecret;
}

/** A user's session in a command-line or desktop program. A server opens one for each of its sessions. */
export interface NativeSession extends Session {
  /**
   * Completes a login with the address to which the service redirected the browser. The promise resolves when the
   * session has its tokens.
   *
   * @throws ClientError `login_failed` with the error of the service, or if the address does not belong to a login of
   * this session; `unreachable`, `secret_missing`, `callback_failed`
   */
  completeLogin(address: string): Promise<void>;
  /**
   * Resumes a session with a refresh token from the operating system's secure store. The promise resolves when the
   * session has its tokens. The service replaces the refresh token, so store the new one.
   *
   * @throws ClientError `login_failed` if the service rejects the refresh token; `unreachable`, `secret_missing`,
   * `callback_failed`
   */
  resume(refreshToken: string): Promise<void>;
  /**
   * The current refresh token, or undefined if there is no session. Keep it only in the operating system's secure
   * store. Each renewal replaces it and then calls `onChange`.
   */
  readonly refreshToken: string | undefined;
}

/**
 * Opens a session for a program that has a user but no page. The session starts in the state `logged_out`.
 *
 * @throws TypeError if `issuer` is not an https address
 */
export function openNativeSession(options: NativeSessionOptions): NativeSession {
  let kept: KeptLogins = [];
  const pending = openPendingLogins(
    () => kept,
    (next) => {
      kept = next;
    },
  );
  const { clientId, clientSecret } = options;
  const session = openSession(options, {
    initial: { name: 'logged_out', reason: 'not_logged_in' },
    peers: NO_PEERS,
    clock: {
      now: () => Date.now(),
      after(milliseconds, work) {
        const timer = setTimeout(work, milliseconds);
        // A planned renewal must not keep the process alive. Timers are numbers in runtimes without `unref`.
        if (typeof timer === 'object') timer.unref();
        return () => clearTimeout(timer);
      },
    },
    origins: [],
    async authenticate() {
      if (clientSecret === undefined) return oauth.None();
      return oauth.ClientSecretPost(await readSecret(clientId, clientSecret));
    },
    keepLogin: pending.keep,
    open: (url) => options.openUrl(url),
    whenSeen: (work) => work(),
    async endSession(provider, server, { refreshToken }) {
      const { end_session_endpoint: url } = server;
      if (url === undefined || refreshToken === undefined) return;
      // Logs out with client_id and refresh_token, which needs no page
      // (docs/keycloak/logout.md#logout-with-a-refresh-token).
      const body = new URLSearchParams({ client_id: clientId, refresh_token: refreshToken });
      if (clientSecret !== undefined) body.set('client_secret', await readSecret(clientId, clientSecret));
      await provider.request(
        ({ signal }) => fetch(url, { method: 'POST', body, redirect: 'manual', signal: signal() }),
        async ({ ok, status }) => {
          // A redirect, for example from a proxy, has ended no session.
          if (!ok) throw new Error(`the logout endpoint returned status ${status}`);
        },
      );
    },
  });
  return {
    get state() {
      return session.state;
    },
    get refreshToken() {
      return session.keeper.tokens?.refreshToken;
    },
    accessToken: session.accessToken,
    fetch: session.fetch,
    login: session.login,
    logout: session.logout,
    close: session.close,
    async completeLogin(address) {
      const { searchParams } = new URL(address);
      const state = searchParams.get('state') ?? '';
      const login = pending.take(state);
      if (login === undefined) {
        throw new ClientError('login_failed', 'the address does not belong to a login of this session');
      }
      await session.receive(searchParams, state, login);
    },
    resume: session.resume,
  };
}
