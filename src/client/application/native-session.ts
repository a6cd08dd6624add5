import { ClientError } from './client-error.ts';
import { NO_PEERS } from './peers.ts';
import { type KeptLogins, openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** The options of a session outside of a browser. */
export interface NativeSessionOptions extends SessionOptions {
  /** Opens a page of the service in the system's browser (RFC 8252). */
  openUrl(url: string): void | Promise<void>;
}

/** A session of a command-line or desktop program. */
export interface NativeSession extends Session {
  /**
   * Completes a login with the address to which the service redirected the browser.
   *
   * @throws ClientError `login_failed` with the message of the service, or for a response that belongs to no login of this
   *   program; `unreachable`
   */
  completeLogin(address: string): Promise<void>;
  /**
   * Resumes a session with a refresh token from the platform's secure store. Using the token invalidates it.
   *
   * @throws ClientError `login_failed` if the service rejects the token, `unreachable`
   */
  resume(refreshToken: string): Promise<void>;
  /**
   * The current refresh token, which belongs only into the platform's secure store. Each renewal changes it and calls
   * `onChange`.
   */
  readonly refreshToken: string | undefined;
}

/** Opens a session of a program that a person uses outside of a browser. */
export function openNativeSession(options: NativeSessionOptions): NativeSession {
  let kept: KeptLogins = [];
  const pending = openPendingLogins(
    () => kept,
    (next) => {
      kept = next;
    },
  );
  const session = openSession(options, {
    initial: { name: 'logged_out', reason: 'not_logged_in' },
    peers: NO_PEERS,
    clock: {
      now: () => Date.now(),
      after(milliseconds, work) {
        const timer = setTimeout(work, milliseconds);
        // The timer of the next renewal must not keep the program running.
        (timer as { unref?(): void }).unref?.();
        return () => clearTimeout(timer);
      },
    },
    origins: [],
    keepLogin: pending.keep,
    open: (url) => options.openUrl(url),
    whenSeen: (work) => work(),
    async endSession(provider, server, { refreshToken }) {
      const { end_session_endpoint: url } = server;
      if (url === undefined || refreshToken === undefined) return;
      // The logout endpoint accepts client_id and refresh_token in a form, see docs/keycloak/logout.md.
      const body = new URLSearchParams({ client_id: options.clientId, refresh_token: refreshToken });
      await provider.ask(
        ({ signal }) => fetch(url, { method: 'POST', body, redirect: 'manual', signal: signal() }),
        async () => undefined,
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
      if (login === undefined)
        throw new ClientError('login_failed', 'this response belongs to no login of this program');
      await session.receive(searchParams, state, login);
    },
    resume: session.resume,
  };
}
