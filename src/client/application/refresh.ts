import * as oauth from 'oauth4webapi';
import { ClientError } from './client-error.ts';
import { type Provider, readNumber } from './provider.ts';
import { parseTokenSet, type TokenSet } from './token-set.ts';

/** The service used the refresh token, but the client did not receive the token that replaced it. */
export class LostResponse extends ClientError {}

/**
 * Sends a refresh. `usedFor` is the time in milliseconds since another tab may have used the same refresh token.
 *
 * @throws LostResponse if the service used the token, and may count another use as reuse
 * @throws ClientError
 */
export type Refresh = (refreshToken: string, before?: TokenSet, usedFor?: number) => Promise<TokenSet>;

/** Maximum number of requests for one refresh. */
const ATTEMPTS = 4;
/** The pause before the first repetition. It doubles after each one. */
const PAUSE_MILLISECONDS = 500;
/** Maximum grace period of idkit in seconds (docs/keycloak/tokens.md#grace). */
const MOST_GRACE_SECONDS = 300;

/**
 * Returns for how many milliseconds after its first use a refresh token may be sent again: 80 % of the grace period,
 * because the request needs time to arrive.
 *
 * @throws TypeError if the number of seconds is not in the range of the service's setting
 */
export function repeatWindow(options: { refreshGraceSeconds?: number }): number {
  return readNumber(options, 'refreshGraceSeconds', 0, MOST_GRACE_SECONDS) * 800;
}

/**
 * Returns the function that renews tokens. If a response is lost, it sends the same refresh token again, as long as the
 * service's grace period allows it.
 *
 * Without a grace period, another use of a token that the service has used ends the whole user session. So the function
 * never repeats a request whose response began to arrive. If no response arrived, it throws `unreachable`, and the next
 * renewal sends the token again: almost always the request was lost, because the device was offline or the service was
 * down, and giving up would log the user out.
 *
 * @param window the result of `repeatWindow`
 * @param timeout of a request, in milliseconds
 */
export function openRefresh(
  provider: Provider,
  authenticate: () => Promise<oauth.ClientAuth>,
  now: () => number,
  window: number,
  timeout: number,
): Refresh {
  /** The token that the service is known to have used, and when it was first sent. */
  let used: { refreshToken: string; since: number } | undefined;
  const quick = Math.min(window, timeout) / ATTEMPTS;

  return async (refreshToken, before, usedFor = 0) => {
    const server = await provider.server();
    const authentication = await authenticate();
    // The monotonic clock, because a jump of the wall clock must not extend the grace period.
    let since = performance.now() - usedFor;
    if (used?.refreshToken === refreshToken) {
      since = used.since;
      if (performance.now() - since >= window) throw lost();
    }
    const send = async (limit: number): Promise<TokenSet> => {
      const requestedAt = now();
      const tokenResponse = await provider.request(
        (transport) =>
          oauth.refreshTokenGrantRequest(server, provider.client, authentication, refreshToken, transport),
        async (response) => {
          // A response in another format comes from a proxy.
          const isJson = response.headers.get('content-type')?.startsWith('application/json');
          if (response.status === 200 && isJson) used = { refreshToken, since };
          return oauth.processRefreshTokenResponse(server, provider.client, response);
        },
        limit,
      );
      return parseTokenSet(tokenResponse, requestedAt, before);
    };
    const end = performance.now() + Math.min(window, timeout);
    for (let attempt = 1; ; attempt++) {
      // Callers that lost the response at the same time, because a proxy restarted, return at different times.
      const pause = PAUSE_MILLISECONDS * 2 ** (attempt - 1) * (1 + Math.random() / 2);
      const rest = Math.min(end, since + window) - pause - performance.now();
      const again = attempt < ATTEMPTS && rest > 0;
      try {
        // Only the last request has time for a slow service, because the others can be repeated.
        const tokens = await send(again ? Math.min(quick, rest) : timeout);
        used = undefined;
        return tokens;
      } catch (error) {
        if (used === undefined && !mayBeLost(error)) throw error;
        if (!again) throw used !== undefined && performance.now() - since >= window ? lost(error) : error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  };
}

/** Whether the service may have used the token although it returned no tokens. */
function mayBeLost(error: unknown): boolean {
  // A response with an OAuth error, or with 429, comes from the service itself, which has not used the token.
  return error instanceof ClientError && error.code === 'unreachable' && !error.error && error.status !== 429;
}

function lost(cause?: unknown): LostResponse {
  return new LostResponse('unexpected_answer', 'the response to a refresh was lost', { cause });
}
