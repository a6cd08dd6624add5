import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError, type ClientErrorCode, type RefusalDetails } from './client-error.ts';
import type { Peers } from './peers.ts';
import {
  openProvider,
  type Provider,
  type ProviderOptions,
  requestTimeout,
  withoutContent,
} from './provider.ts';
import { openRefresh, repeatWindow } from './refresh.ts';
import { type LoggedOutReason, nextStep, type SessionEvent, type SessionState } from './session-state.ts';
import { type Clock, openTokenKeeper, type TokenKeeper } from './token-keeper.ts';
import { parseTokenSet, type TokenSet } from './token-set.ts';

/** A report that a session ended although the user did not log out. Log it and raise an alert. It contains no token. */
export interface UnexpectedLogin extends RefusalDetails {
  reason: LoggedOutReason;
  /** The time of the event in ISO 8601, UTC. */
  at: string;
}

/** Options of every session. */
export interface SessionOptions extends ProviderOptions {
  /** The address to which the service sends the user after a login. It must be one of the client's redirect URIs. */
  redirectUri: string;
  /** Scopes to request in addition to `openid`, separated by spaces. */
  scope?: string;
  /**
   * Origins to which `fetch` may send tokens, such as `https://api.example.org`. Default: in a browser, the origin of
   * the page; elsewhere, none.
   */
  apiOrigins?: readonly string[];
  /**
   * The grace period of the realm or client at the service, `refreshGraceSeconds` (docs/keycloak/tokens.md#grace). If
   * the response to a refresh is lost, the session sends the same refresh token again within this time. At most 300.
   * A value above that of the service ends sessions. Default: 0, as in the service.
   */
  refreshGraceSeconds?: number;
  /**
   * Receives the state after each event and after each renewal. If it throws, the session logs the error to the console
   * and continues.
   */
  onChange?(state: SessionState): void;
  /**
   * Receives a report when the session ends unexpectedly, for example after the reuse of a refresh token. The session
   * calls it before it starts a new login. Default: a warning on the console. If it throws, the session logs the error
   * to the console and continues.
   */
  onUnexpectedLogin?(report: UnexpectedLogin): void;
}

/** Options of one login. */
export interface LoginOptions {
  /**
   * The address that the browser shows after the login. It must have the origin of the current page, which is the
   * default.
   */
  returnTo?: string;
  /** Further parameters of the authorization request, such as `login_hint` or `prompt`. */
  parameters?: Readonly<Record<string, string>>;
}

/** A user's session. Its tokens are in memory only. */
export interface Session {
  readonly state: SessionState;
  /**
   * Sends the user to the service (authorization code flow with PKCE). The promise resolves when the page opens, not
   * when the user has logged in.
   *
   * @throws ClientError `unreachable` or `refused` if the discovery document is unavailable; `unexpected_answer` if it
   * names no authorization endpoint; `not_allowed` for a `returnTo` of another origin; `callback_failed` if `openUrl`
   * throws
   */
  login(options?: LoginOptions): Promise<void>;
  /**
   * Returns an access token for calls that do not use `fetch`. Renews a token with fewer than 60 seconds left.
   * If the service is unreachable, returns the old token until that expires.
   *
   * @throws ClientError `logged_out`, `unreachable`
   */
  accessToken(): Promise<string>;
  /**
   * `fetch` that sends the access token, but only to `apiOrigins`. A 401 causes one retry with a renewed token.
   *
   * @throws ClientError `not_allowed` for another origin, `logged_out`, `unreachable`
   */
  readonly fetch: typeof fetch;
  /**
   * Ends the session in this program, in its other tabs and at the service. Does nothing if the session has no tokens.
   * The promise resolves when the service has responded; in a browser, when the page leaves for the service's logout.
   *
   * @throws ClientError `unreachable` or `refused` if the service did not end its session. The session in this program
   * and in the other tabs has ended anyway; the service's session lasts until it expires
   */
  logout(): Promise<void>;
  /** Discards the tokens and cancels planned renewals. The session at the service and in other tabs continues. */
  close(): void;
}

/** The data that a session keeps from the start of a login until its response. Contains no token. */
export interface PendingLogin {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo?: string;
  /** Whether the login shows no page. */
  readonly silent?: true;
}

/** The parts of a session that differ between a browser and other programs. */
export interface Place {
  /** The state of a new session. */
  readonly initial: SessionState;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly origins: readonly string[];
  /** Returns how the client authenticates at the token endpoint. @throws ClientError */
  authenticate(): Promise<oauth.ClientAuth>;
  keepLogin(state: string, pending: PendingLogin): void;
  /** Opens a page of the service for the user. */
  open(url: string): void | Promise<void>;
  /** Runs `work` when the page is visible to the user, or immediately in a program without a page. */
  whenSeen(work: () => void): void;
  /** Ends the session at the service. */
  endSession(provider: Provider, server: oauth.AuthorizationServer, tokens: TokenSet): Promise<void>;
}

/** A session, with the functions that only the browser session and the native session call. */
export interface OpenSession extends Session {
  readonly keeper: TokenKeeper;
  /** Completes a login with the parameters of the redirect. Checks `state`, `iss` and the nonce. @throws ClientError */
  receive(parameters: URLSearchParams, state: string, pending: PendingLogin): Promise<void>;
  /** Takes over the tokens of another tab. Returns false if no tab has tokens. */
  join(): Promise<boolean>;
  /** Begins a login that shows no page (`prompt=none`). If the service has no session, it responds with an error. */
  loginSilently(returnTo: string): Promise<void>;
  /** Sets the state of a session without tokens to `logged_out`. */
  giveUp(reason: LoggedOutReason, error?: unknown): void;
  /** Gets tokens with a stored refresh token, which the service replaces. @throws ClientError */
  resume(refreshToken: string): Promise<void>;
}

/** The errors that mean that the service cannot log the user in without a page (OpenID Connect Core 1.0 §3.1.2.6). */
const NO_SESSION_ERRORS = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

/** The codes that a failed login keeps, because the reason is neither the login nor its response. */
const KEPT_CODES: readonly ClientErrorCode[] = ['unreachable', 'secret_missing', 'callback_failed'];

/** Opens a session. The browser session and the native session share this code. */
export function openSession(options: SessionOptions, place: Place): OpenSession {
  const provider = openProvider(options);
  const { client } = provider;
  const window = repeatWindow(options);
  let closed = false;
  let state = place.initial;
  /** The `sub` of the last user. After a lost session, the tab takes over only tokens of the same user. */
  let user: unknown;

  const emit = (event: SessionEvent): void => {
    if (event.type === 'tokens') user = event.user['sub'];
    const step = nextStep(state, event);
    state = step.state;
    void runCallback('onChange', () => options.onChange?.(state));
    if (step.report && event.type === 'ended') {
      const { type: _, ...ended } = event;
      const report = { ...ended, at: new Date(place.clock.now()).toISOString() };
      void runCallback('onUnexpectedLogin', () => (options.onUnexpectedLogin ?? warn)(report));
    }
    if (step.startLogin) place.whenSeen(() => void loginAgain());
  };

  /** Takes over the tokens of another tab if the user has already logged in there. Otherwise starts a login. */
  const loginAgain = async (): Promise<void> => {
    if (closed || state.name !== 'logged_out' || (await keeper.join(user)) === 'joined') return;
    await login().catch((error) => end('login_failed', error));
  };

  const end = (reason: LoggedOutReason, error?: unknown): void => {
    emit({ type: 'ended', reason, ...(error === undefined ? {} : refusalOf(error)) });
  };

  /** A failed second login does not end the first session. */
  const failLogin = (error: unknown, silent = false): ClientError => {
    const details = refusalOf(error);
    const anonymous = silent && NO_SESSION_ERRORS.includes(details.error ?? '');
    if (keeper.tokens === undefined) end(anonymous ? 'not_logged_in' : 'login_failed', error);
    const code =
      error instanceof ClientError && KEPT_CODES.includes(error.code) ? error.code : 'login_failed';
    return new ClientError(code, `the login failed: ${details.errorDescription ?? details.error}`, {
      ...details,
      cause: error instanceof ClientError ? error : withoutContent(error),
    });
  };

  const { authenticate, clock } = place;
  const refresh = openRefresh(provider, authenticate, clock.now, window, requestTimeout(options));
  const keeper = openTokenKeeper(refresh, place.peers, emit, clock, window);

  const login = async ({ returnTo, parameters }: LoginOptions = {}, silent = false): Promise<void> => {
    const server = await provider.server();
    const [verifier, nonce, marker] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomNonce(),
      oauth.generateRandomState(),
    ];
    if (server.authorization_endpoint === undefined) {
      throw new ClientError(
        'unexpected_answer',
        `the discovery document of ${options.issuer} has no authorization_endpoint`,
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
    place.keepLogin(marker, {
      verifier,
      nonce,
      ...(returnTo === undefined ? {} : { returnTo }),
      ...(silent ? { silent } : {}),
    });
    emit({ type: 'login_started' });
    try {
      await place.open(url.href);
    } catch (cause) {
      throw failLogin(new ClientError('callback_failed', 'openUrl threw an error', { cause }));
    }
  };

  return {
    get state() {
      return state;
    },
    keeper,
    login: (loginOptions) => login(loginOptions),
    loginSilently: (returnTo) => login({ returnTo, parameters: { prompt: 'none' } }, true),
    giveUp: end,
    accessToken: () => keeper.accessToken(),
    fetch: bearerFetch(keeper, options.apiOrigins ?? place.origins),
    async receive(parameters, marker, pending) {
      emit({ type: 'login_started' });
      try {
        const server = await provider.server();
        const valid = oauth.validateAuthResponse(server, client, parameters, marker);
        const authentication = await place.authenticate();
        const requestedAt = place.clock.now();
        const tokenResponse = await provider.request(
          (transport) =>
            oauth.authorizationCodeGrantRequest(
              server,
              client,
              authentication,
              valid,
              options.redirectUri,
              pending.verifier,
              transport,
            ),
          (response) =>
            oauth.processAuthorizationCodeResponse(server, client, response, {
              expectedNonce: pending.nonce,
              requireIdToken: true,
            }),
        );
        keeper.put(parseTokenSet(tokenResponse, requestedAt));
      } catch (error) {
        throw failLogin(error, pending.silent);
      }
    },
    join: async () => (await keeper.join()) === 'joined',
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
    close() {
      closed = true;
      keeper.close();
    },
  };
}

/** Returns the service's error, or a description if the login failed for another reason. */
function refusalOf(error: unknown): RefusalDetails {
  if (error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description: text } = error;
    return { error: code, ...(text === undefined ? {} : { errorDescription: text }) };
  }
  const text = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ClientError)) return { error: 'invalid_response', errorDescription: text };
  const { status, error: code = error.code, errorDescription = text } = error;
  return { ...(status === undefined ? {} : { status }), error: code, errorDescription };
}

/**
 * Runs a callback of the application. Logs its errors, because they must not stop a renewal or a logout. The callback can
 * be asynchronous: a rejection without a handler would end a Node.js process.
 */
async function runCallback(name: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(`idkit: the application's ${name} threw an error`, error);
  }
}

function warn(report: UnexpectedLogin): void {
  console.warn('idkit: the session ended unexpectedly', report);
}
