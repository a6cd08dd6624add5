import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError } from './client-error.ts';
import { type ClientSecret, readSecret } from './client-secret.ts';
import { openProvider, type ProviderOptions } from './provider.ts';
import { DEFAULT_LIFETIME_SECONDS, renewalTime } from './token-set.ts';

/** Options of a machine-to-machine client. */
export interface ServiceTokenOptions extends ProviderOptions {
  /**
   * The secret, or a function that returns it. Each renewal calls the function, so the secret can change at run time.
   */
  clientSecret: ClientSecret;
  /** Scopes to request, separated by spaces. */
  scope?: string;
  /** Origins to which `fetch` may send tokens, such as `https://api.example.org`. Default: none. */
  apiOrigins?: readonly string[];
}

/** Access tokens with which a backend acts on its own behalf (client credentials grant, RFC 6749 §4.4). */
export interface ServiceTokens {
  /**
   * Returns the cached token, or a new one if fewer than 30 seconds are left. Parallel callers share one request. If
   * the service or the secret is unavailable, the function returns the cached token until that expires. After a failure,
   * it sends no request for one second, and throws the same error.
   *
   * @throws ClientError `refused` with the error of the service, `unreachable`, `unexpected_answer`, `secret_missing`,
   * `callback_failed` if `clientSecret` throws
   */
  accessToken(): Promise<string>;
  /**
   * `fetch` that sends the token, but only to `apiOrigins`. A 401 causes one retry with a new token.
   *
   * @throws ClientError
   */
  readonly fetch: typeof fetch;
}

/** The cache renews a token with less than this lifetime left. */
const MARGIN_SECONDS = 30;
/** Minimum time between two renewals for an API that rejects even new tokens. */
const REJECTION_PAUSE_MILLISECONDS = 5_000;

/** Minimum time between a failed request and the next one. */
const FAILURE_PAUSE_MILLISECONDS = 1_000;

interface Cached {
  readonly accessToken: string;
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * Opens a cache of machine-to-machine tokens. The first call of `accessToken` sends the first request.
 *
 * @param now returns the Unix time in milliseconds
 * @throws TypeError if `issuer` is not an https address
 */
export function openServiceTokens(options: ServiceTokenOptions, now: () => number = Date.now): ServiceTokens {
  const provider = openProvider(options);
  let cached: Cached | undefined;
  let request: Promise<Cached> | undefined;
  let rejectedAt = -Infinity;
  let failure: { at: number; error: unknown } | undefined;

  /** Whether a time is less than `milliseconds` ago. A time in the future is not, because the clock was set back. */
  const isRecent = (at: number, milliseconds: number): boolean => now() >= at && now() - at < milliseconds;

  const obtain = async (): Promise<Cached> => {
    const { clientId, clientSecret, scope } = options;
    const secret = await readSecret(clientId, clientSecret);
    const server = await provider.server();
    const requestedAt = now();
    const tokenResponse = await provider.request(
      (transport) =>
        oauth.clientCredentialsGrantRequest(
          server,
          provider.client,
          oauth.ClientSecretPost(secret),
          scope === undefined ? {} : { scope },
          transport,
        ),
      (response) => oauth.processClientCredentialsResponse(server, provider.client, response),
    );
    const lifetime = tokenResponse.expires_in ?? DEFAULT_LIFETIME_SECONDS;
    return {
      accessToken: tokenResponse.access_token,
      expiresAt: requestedAt + lifetime * 1000,
      renewAt: renewalTime(requestedAt, lifetime, MARGIN_SECONDS),
    };
  };

  const renew = async (): Promise<string> => {
    if (failure !== undefined && isRecent(failure.at, FAILURE_PAUSE_MILLISECONDS)) throw failure.error;
    request ??= obtain()
      .catch((error) => {
        failure = { at: now(), error };
        throw error;
      })
      .finally(() => {
        request = undefined;
      });
    cached = await request;
    return cached.accessToken;
  };

  const accessToken = async (): Promise<string> => {
    if (cached !== undefined && now() < cached.renewAt) return cached.accessToken;
    try {
      return await renew();
    } catch (error) {
      const transient = error instanceof ClientError && error.code !== 'refused';
      if (transient && cached !== undefined && now() < cached.expiresAt) return cached.accessToken;
      throw error;
    }
  };

  const renewRejected = async (rejected: string): Promise<string> => {
    if (cached?.accessToken !== rejected) return accessToken();
    if (isRecent(rejectedAt, REJECTION_PAUSE_MILLISECONDS)) return rejected;
    rejectedAt = now();
    return renew();
  };

  return { accessToken, fetch: bearerFetch({ accessToken, renewRejected }, options.apiOrigins ?? []) };
}
