import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError } from './client-error.ts';
import { openProvider, type ProviderOptions } from './provider.ts';
import { DEFAULT_LIFETIME_SECONDS, renewalTime } from './token-set.ts';

/** The machine-to-machine client and the scopes that it requests. */
export interface ServiceTokenOptions extends ProviderOptions {
  /** The secret, or a function that reads it from a secrets manager. Each renewal calls it, so a new secret is used. */
  clientSecret: string | (() => string | Promise<string>);
  /** Separated by spaces. */
  scope?: string;
  /** Origins, such as `https://api.example.org`, that `fetch` may send tokens to. */
  apiOrigins?: readonly string[];
}

/** Access tokens of a backend, from the client credentials grant. */
export interface ServiceTokens {
  /**
   * Returns the current token, or requests a new one 30 seconds before it expires. All callers share one request. If the
   * service is unreachable, returns a token that is still valid.
   *
   * @throws ClientError `refused` with the message of the service, `unreachable`, `unexpected_answer`
   */
  accessToken(): Promise<string>;
  /** As `fetch`, with the token, but only to `apiOrigins`. After a 401 it requests a new token and retries once. */
  readonly fetch: typeof fetch;
}

/** How long before its end a token is renewed. */
const MARGIN_SECONDS = 30;
/** After a 401 led to a new token, another 401 within this time leads to no further one. */
const CALM_MILLISECONDS = 5_000;

interface Cached {
  readonly accessToken: string;
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * Opens a cache of machine-to-machine tokens.
 *
 * @param now returns the Unix time in milliseconds
 */
export function openServiceTokens(options: ServiceTokenOptions, now: () => number = Date.now): ServiceTokens {
  const provider = openProvider(options);
  let cached: Cached | undefined;
  let request: Promise<Cached> | undefined;
  let reactiveAt = 0;

  const obtain = async (): Promise<Cached> => {
    const { clientSecret, scope } = options;
    const secret = typeof clientSecret === 'string' ? clientSecret : await clientSecret();
    const server = await provider.server();
    const asked = now();
    const answer = await provider.ask(
      (how) =>
        oauth.clientCredentialsGrantRequest(
          server,
          provider.client,
          oauth.ClientSecretPost(secret),
          scope === undefined ? {} : { scope },
          how,
        ),
      (response) => oauth.processClientCredentialsResponse(server, provider.client, response),
    );
    const lifetime = answer.expires_in ?? DEFAULT_LIFETIME_SECONDS;
    return {
      accessToken: answer.access_token,
      expiresAt: asked + lifetime * 1000,
      renewAt: renewalTime(asked, lifetime, MARGIN_SECONDS),
    };
  };

  const renew = async (): Promise<string> => {
    request ??= obtain().finally(() => {
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

  const renewRefused = async (refused: string): Promise<string> => {
    if (cached?.accessToken !== refused) return accessToken();
    if (now() - reactiveAt < CALM_MILLISECONDS) return refused;
    reactiveAt = now();
    return renew();
  };

  return { accessToken, fetch: bearerFetch({ accessToken, renewRefused }, options.apiOrigins ?? []) };
}
