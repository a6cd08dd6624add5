import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError, type RefusalDetails } from './client-error.ts';
import type { Peers } from './peers.ts';
import { openProvider, type Provider, type ProviderOptions } from './provider.ts';
import { type LoggedOutReason, nextStep, type SessionEvent, type SessionState } from './session-state.ts';
import { type Clock, openTokenKeeper, type TokenKeeper } from './token-keeper.ts';
import { parseTokenSet, type TokenSet } from './token-set.ts';

/** The unexpected end of a session, for a log line and an alert. Contains no token. */
export interface UnexpectedLogin extends RefusalDetails {
  reason: LoggedOutReason;
  /** ISO 8601, UTC. */
  at: string;
}

/** The options of every session. */
export interface SessionOptions extends ProviderOptions {
  /** The address to which the service redirects after a login: one of the client's redirect URIs. */
  redirectUri: string;
  /** Scopes in addition to `openid`, separated by spaces. */
  scope?: string;
  /** Origins, such as `https://api.example.org`, that `fetch` may send tokens to. */
  apiOrigins?: readonly string[];
  /** Called after each change of `state`. Its errors are logged on the console and do not affect the session. */
  onChange?(state: SessionState): void;
  /**
   * Called before an automatic login, for example after the reuse of a refresh token. Default: a warning on the console.
   * Its errors are logged on the console.
   */
  onUnexpectedLogin?(report: UnexpectedLogin): void;
}

/** The options of one login. */
export interface LoginOptions {
  /** The page to open after the login, on the same origin. Default: the current page. */
  returnTo?: string;
  /** Further parameters of the authorization request, such as `login_hint` or `prompt`. */
  parameters?: Readonly<Record<string, string>>;
}

/** A user's session with the service. Tokens stay in memory. */
export interface Session {
  readonly state: SessionState;
  /**
   * Opens the login page of the service (authorization code with PKCE).
   *
   * @throws ClientError `unreachable`, or `unexpected_answer` if the service has no authorization endpoint
   */
  login(options?: LoginOptions): Promise<void>;
  /** Returns the token for APIs that are not called with `fetch`. @throws ClientError `logged_out`, `unreachable` */
  accessToken(): Promise<string>;
  /** As `fetch`, with the access token, but only to `apiOrigins`. Renews the token before its end and after a 401. */
  readonly fetch: typeof fetch;
  /**
   * Ends the session here, in other tabs and at the service.
   *
   * @throws ClientError `unreachable`, `refused`: the session has ended here and in other tabs, but the service keeps its
   *   session until it expires
   */
  logout(): Promise<void>;
  /** Discards the tokens and stops. The session continues at the service and in other tabs. */
  close(): void;
}

/** The data of a login that waits for its response. Contains no token. */
export interface PendingLogin {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo?: string;
}

/** The differences between a browser and Node.js. */
export interface Place {
  /** The initial state. */
  readonly initial: SessionState;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly origins: readonly string[];
  keepLogin(state: string, pending: PendingLogin): void;
  /** Opens a page of the service. */
  open(url: string): void | Promise<void>;
  /** Runs `work` when the page is visible. */
  whenSeen(work: () => void): void;
  /** Ends the session at the service. */
  endSession(provider: Provider, server: oauth.AuthorizationServer, tokens: TokenSet): Promise<void>;
}

/** A session with the functions that the browser and Node.js call. */
export interface OpenSession extends Session {
  readonly keeper: TokenKeeper;
  /** Completes a login with the parameters of the redirect. Checks `state`, `iss` and the nonce. @throws ClientError */
  receive(parameters: URLSearchParams, state: string, pending: PendingLogin): Promise<void>;
  /** Copies the tokens of another tab, or changes to `logged_out` if there are none. */
  join(): Promise<void>;
  /** Logs in with a refresh token, which this invalidates. @throws ClientError */
  resume(refreshToken: string): Promise<void>;
}

/** The session itself, the same in browsers and in Node.js. */
export function openSession(options: SessionOptions, place: Place): OpenSession {
  const provider = openProvider(options);
  const { client } = provider;
  let state = place.initial;
  /** The user of the lost session. Tokens of another tab are copied only if they belong to this user. */
  let user: unknown;

  const emit = (event: SessionEvent): void => {
    if (event.type === 'tokens') user = event.user['sub'];
    const step = nextStep(state, event);
    state = step.state;
    call('onChange', () => options.onChange?.(state));
    if (step.report && event.type === 'ended') {
      const { type: _, ...ended } = event;
      const report = { ...ended, at: new Date(place.clock.now()).toISOString() };
      call('onUnexpectedLogin', () => (options.onUnexpectedLogin ?? warn)(report));
    }
    if (step.startLogin) place.whenSeen(() => void loginAgain());
  };

  /** Recovers after a loss: copies the new tokens of another tab, or starts a login. */
  const loginAgain = async (): Promise<void> => {
    if (state.name !== 'logged_out' || (await keeper.join(user)) === 'joined') return;
    await login().catch((error) => end('login_failed', error));
  };

  const end = (reason: LoggedOutReason, error?: unknown): void => {
    emit({ type: 'ended', reason, ...(error === undefined ? {} : describe(error)) });
  };

  /** A failed login does not affect an existing session. */
  const failLogin = (error: unknown): ClientError => {
    if (keeper.tokens === undefined) end('login_failed', error);
    const details = describe(error);
    const code = error instanceof ClientError && error.code === 'unreachable' ? error.code : 'login_failed';
    return new ClientError(code, `the login failed: ${details.errorDescription ?? details.error}`, {
      ...details,
      cause: error,
    });
  };

  const refresh = async (refreshToken: string, before?: TokenSet): Promise<TokenSet> => {
    const server = await provider.server();
    const asked = place.clock.now();
    const answer = await provider.ask(
      (how) => oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, how),
      (response) => oauth.processRefreshTokenResponse(server, client, response),
    );
    return parseTokenSet(answer, asked, before);
  };

  const keeper = openTokenKeeper(refresh, place.peers, emit, place.clock);

  const login: Session['login'] = async ({ returnTo, parameters } = {}) => {
    const server = await provider.server();
    const [verifier, nonce, marker] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomNonce(),
      oauth.generateRandomState(),
    ];
    if (server.authorization_endpoint === undefined) {
      throw new ClientError(
        'unexpected_answer',
        `${options.issuer} has no authorization_endpoint in its discovery document`,
      );
    }
    const url = new URL(server.authorization_endpoint);
    const request = {
      ...parameters,
      client_id: client.client_id,
      redirect_uri: options.redirectUri,
      response_type: 'code',
      scope: `openid ${options.scope ?? ''}`.trim(),
      state: marker,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(request)) url.searchParams.set(name, value);
    place.keepLogin(marker, { verifier, nonce, ...(returnTo === undefined ? {} : { returnTo }) });
    emit({ type: 'login_started' });
    await place.open(url.href);
  };

  return {
    get state() {
      return state;
    },
    keeper,
    login,
    accessToken: () => keeper.accessToken(),
    fetch: bearerFetch(keeper, options.apiOrigins ?? place.origins),
    async receive(parameters, marker, pending) {
      emit({ type: 'login_started' });
      try {
        const server = await provider.server();
        const valid = oauth.validateAuthResponse(server, client, parameters, marker);
        const asked = place.clock.now();
        const answer = await provider.ask(
          (how) =>
            oauth.authorizationCodeGrantRequest(
              server,
              client,
              oauth.None(),
              valid,
              options.redirectUri,
              pending.verifier,
              how,
            ),
          (response) =>
            oauth.processAuthorizationCodeResponse(server, client, response, {
              expectedNonce: pending.nonce,
              requireIdToken: true,
            }),
        );
        keeper.put(parseTokenSet(answer, asked));
      } catch (error) {
        throw failLogin(error);
      }
    },
    async join() {
      if ((await keeper.join()) === 'alone') end('not_logged_in');
    },
    async resume(refreshToken) {
      emit({ type: 'login_started' });
      try {
        keeper.put(await refresh(refreshToken));
      } catch (error) {
        throw failLogin(error);
      }
    },
    async logout() {
      const { tokens } = keeper;
      if (tokens === undefined) return;
      keeper.logout();
      await place.endSession(provider, await provider.server(), tokens);
    },
    close: () => keeper.close(),
  };
}

/** Returns the error of a failed login, if it comes from the service. */
function describe(error: unknown): RefusalDetails {
  if (error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description: text } = error;
    return { error: code, ...(text === undefined ? {} : { errorDescription: text }) };
  }
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ClientError)) return { error: 'invalid_response', errorDescription: text };
  const { status, error: code = error.code, errorDescription = text } = error;
  return { ...(status === undefined ? {} : { status }), error: code, errorDescription };
}

/** Logs an error of the application's function, so that it stops neither a renewal nor a logout. */
function call(name: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    console.error(`idkit: ${name} failed`, error);
  }
}

function warn(report: UnexpectedLogin): void {
  console.warn('idkit: the session ended unexpectedly', report);
}
