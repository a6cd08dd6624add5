import { ClientError } from './client-error.ts';

/** A source of access tokens: one session or one machine-to-machine client. */
export interface TokenSource {
  accessToken(): Promise<string>;
  /** Returns a token other than the rejected one, or the rejected one if there is no other. */
  renewRejected(accessToken: string): Promise<string>;
}

/**
 * Returns a `fetch` that sends the access token, but only to `origins`. After a 401, it renews the token and repeats
 * the request once. The caller gets the 401 if the second response is also a 401, or if the renewal fails.
 *
 * @throws ClientError `not_allowed` for an address outside `origins`, `logged_out`, `unreachable`
 */
export function bearerFetch(source: TokenSource, origins: readonly string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!origins.includes(origin)) {
      throw new ClientError(
        'not_allowed',
        `the token was not sent to ${origin}, because apiOrigins does not list that origin`,
      );
    }
    const retry = request.clone();
    const token = await source.accessToken();
    const response = await send(request, token);
    if (response.status !== 401) return response;
    const renewed = await source.renewRejected(token).catch((error) => {
      if (error instanceof ClientError) return token;
      throw error;
    });
    if (renewed === token) return response;
    await response.body?.cancel();
    return send(retry, renewed);
  };
}

function send(request: Request, token: string): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`);
  return fetch(request);
}
