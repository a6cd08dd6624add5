import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError, type RefusalDetails } from './client-error.ts';
import type { Peers } from './peers.ts';
import { openProvider, type Provider, type ProviderOptions } from './provider.ts';
import { type LoggedOutReason, nextStep, type SessionEvent, type SessionState } from './session-state.ts';
import { type Clock, openTokenKeeper, type TokenKeeper } from './token-keeper.ts';
import { parseTokenSet, type TokenSet } from './token-set.ts';

/** A login that ended without its user's wish; worth a log line and an alert. Holds no token. */
export interface UnexpectedLogin extends RefusalDetails {
  reason: LoggedOutReason;
  /** ISO 8601, UTC. */
  at: string;
}

/** What every session is told. */
export interface SessionOptions extends ProviderOptions {
  /** Where the service sends the user back to; one of the client's redirect URIs. */
  redirectUri: string;
  /** Beside `openid`, separated by spaces. */
  scope?: string;
  /** Origins, such as `https://api.example.org`, that `fetch` may send tokens to. */
  apiOrigins?: readonly string[];
  /** Called after each change of `state`. What it throws goes to the console and changes nothing of the session. */
  onChange?(state: SessionState): void;
  /**
   * Called before the user is sent to a login that nobody asked for, which is what follows the reuse of a refresh
   * token (specification, "Events"); a warning on the console unless told. What it throws goes to the console too.
   */
  onUnexpectedLogin?(report: UnexpectedLogin): void;
}

/** What a login may ask for beside the usual. */
export interface LoginOptions {
  /** Where the user goes on after it; the current page unless told. Same origin only. */
  returnTo?: string;
  /** Further parameters of the authorization request, such as `login_hint` or `prompt`. */
  parameters?: Readonly<Record<string, string>>;
}

/** A user's session with the service, tokens in memory only. */
export interface Session {
  readonly state: SessionState;
  /**
   * Sends the user to the service (authorization code with PKCE).
   *
   * @throws ClientError `unreachable`, or `unexpected_answer` where the service has no logins by a browser
   */
  login(options?: LoginOptions): Promise<void>;
  /** For APIs that are not called by `fetch`. @throws ClientError `logged_out`, `unreachable` */
  accessToken(): Promise<string>;
  /** `fetch` with the access token, renewed before its end or after a 401, to `apiOrigins` alone. */
  readonly fetch: typeof fetch;
  /**
   * Ends the session here, in other tabs and at the service.
   *
   * @throws ClientError `unreachable`, `refused`: here and in other tabs it has ended, but the service was not told, and
   * keeps the session until that runs out
   */
  logout(): Promise<void>;
  /** Forgets the tokens and stops; the session at the service, and in other tabs, lives on. */
  close(): void;
}

/** What is remembered of a login until its answer comes; no token. */
export interface PendingLogin {
  readonly verifier: string;
  readonly nonce: string;
  readonly returnTo?: string;
}

/** What differs between a browser and Node.js. */
export interface Place {
  /** What is known before anything happened. */
  readonly initial: SessionState;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly origins: readonly string[];
  keepLogin(state: string, pending: PendingLogin): void;
  /** Shows the user a page of the service. */
  open(url: string): void | Promise<void>;
  /** Runs `work` once somebody looks. */
  whenSeen(work: () => void): void;
  /** Ends the session at the service. */
  endSession(provider: Provider, server: oauth.AuthorizationServer, tokens: TokenSet): Promise<void>;
}

/** A session with what its place needs of it. */
export interface OpenSession extends Session {
  readonly keeper: TokenKeeper;
  /** Completes a login by what came to the redirect URI; `state`, `iss`, nonce are checked. @throws ClientError */
  receive(parameters: URLSearchParams, state: string, pending: PendingLogin): Promise<void>;
  /** Nobody is logged in, or another tab's tokens are taken. */
  join(): Promise<void>;
  /** Logged in by a refresh token that is used up at once. @throws ClientError */
  resume(refreshToken: string): Promise<void>;
}

/** The session itself, the same in every place. */
export function openSession(options: SessionOptions, place: Place): OpenSession {
  const provider = openProvider(options);
  const { client } = provider;
  let state = place.initial;
  /** Whose session was lost: another tab's tokens are taken only if they are the same user's. */
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

  /** After a loss: by another tab's new tokens where it logged in first, else by a login. */
  const loginAgain = async (): Promise<void> => {
    if (state.name !== 'logged_out' || (await keeper.join(user)) === 'joined') return;
    await login().catch((error) => end('login_failed', error));
  };

  const end = (reason: LoggedOutReason, error?: unknown): void => {
    emit({ type: 'ended', reason, ...(error === undefined ? {} : describe(error)) });
  };

  /** A login that failed takes nothing from one that was there. */
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
      throw new ClientError('unexpected_answer', `${options.issuer} names no authorization_endpoint`);
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

/** What a failed login says, as far as it is the service's own words. */
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

/** A fault of the application's own function is told as one, and stops neither a renewal nor a logout. */
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
