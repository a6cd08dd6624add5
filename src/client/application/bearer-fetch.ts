import { ClientError } from './client-error.ts';

/** Where tokens come from. */
export interface TokenSource {
  accessToken(): Promise<string>;
  /** A token other than the refused one, or the same where there is no other. */
  renewRefused(accessToken: string): Promise<string>;
}

/**
 * `fetch` with the access token. A 401 renews the token and repeats the call once (specification, "Errors"); a second
 * 401, or a renewal that fails, gives the caller the 401. Tokens go to the named origins alone.
 *
 * @throws ClientError `not_allowed` for any other address, `logged_out`, `unreachable`
 */
export function bearerFetch(source: TokenSource, origins: readonly string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!origins.includes(origin)) {
      throw new ClientError('not_allowed', `tokens do not go to ${origin}: it is not in apiOrigins`);
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
