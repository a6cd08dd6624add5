import { ClientError } from './client-error.ts';

/** The source of tokens. */
export interface TokenSource {
  accessToken(): Promise<string>;
  /** Returns another token than the rejected one, or the same one if there is no other. */
  renewRefused(accessToken: string): Promise<string>;
}

/**
 * As `fetch`, with the access token. After a 401 it renews the token and repeats the call once. If the renewal fails, or
 * the second call returns 401, the caller gets the 401. Tokens are sent only to the listed origins.
 *
 * @throws ClientError `not_allowed` for any other address, `logged_out`, `unreachable`
 */
export function bearerFetch(source: TokenSource, origins: readonly string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!origins.includes(origin)) {
      throw new ClientError(
        'not_allowed',
        `tokens are not sent to ${origin}, because apiOrigins does not contain it`,
      );
    }
    const again = request.clone();
    const token = await source.accessToken();
    const answer = await send(request, token);
    if (answer.status !== 401) return answer;
    const renewed = await source.renewRefused(token).catch((error) => {
      if (error instanceof ClientError) return token;
      throw error;
    });
    if (renewed === token) return answer;
    await answer.body?.cancel();
    return send(again, renewed);
  };
}

function send(request: Request, token: string): Promise<Response> {
  request.headers.set('authorization', `Bearer ${token}`);
  return fetch(request);
}
