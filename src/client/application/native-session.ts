import { ClientError } from './client-error.ts';
import { NO_PEERS } from './peers.ts';
import { type KeptLogins, openPendingLogins } from './pending-logins.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** What a session outside of a browser is told. */
export interface NativeSessionOptions extends SessionOptions {
  /** Shows the user a page of the service, in the system's browser (RFC 8252). */
  openUrl(url: string): void | Promise<void>;
}

/** A session of a command-line or desktop program. */
export interface NativeSession extends Session {
  /**
   * Completes a login by the address that the browser was sent back to.
   *
   * @throws ClientError `login_failed` with the service's own words, or where no login here asked for it;
   * `unreachable`
   */
  completeLogin(address: string): Promise<void>;
  /**
   * Takes up a session by a refresh token that the platform's secure store kept. It is used up at once.
   *
   * @throws ClientError `login_failed` where the service does not take it, `unreachable`
   */
  resume(refreshToken: string): Promise<void>;
  /**
   * The current refresh token, for the platform's secure store and nowhere else. It changes with each renewal, of
   * which `onChange` tells.
   */
  readonly refreshToken: string | undefined;
}

/** A session of a program that has a user in front of it and no page of its own. */
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
        // A renewal to come is no reason for a program to go on.
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
      // Specification, "POST …/logout": client_id and refresh_token in the form.
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
      if (login === undefined) throw new ClientError('login_failed', 'no login here asked for this answer');
      await session.receive(searchParams, state, login);
    },
    resume: session.resume,
  };
}
