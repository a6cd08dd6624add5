import * as oauth from 'oauth4webapi';
import { bearerFetch } from './bearer-fetch.ts';
import { ClientError } from './client-error.ts';
import { openProvider, type ProviderOptions } from './provider.ts';
import { renewalTime, UNTOLD_LIFETIME_SECONDS } from './token-set.ts';

/** Which machine-to-machine client, and what it asks for. */
export interface ServiceTokenOptions extends ProviderOptions {
  /** As it is, or how to get it from a secrets manager: asked at each renewal, so that a new one is taken up. */
  clientSecret: string | (() => string | Promise<string>);
  /** Separated by spaces. */
  scope?: string;
  /** Origins, such as `https://api.example.org`, that `fetch` may send tokens to. */
  apiOrigins?: readonly string[];
}

/** Access tokens of a backend, for itself (client credentials grant). */
export interface ServiceTokens {
  /**
   * The current token; a new one once `expires_in` minus 30 seconds has passed. One request is in flight for all
   * callers. A token that is still good is given where the service cannot be reached.
   *
   * @throws ClientError `refused` with the service's words, `unreachable`, `unexpected_answer`
   */
  accessToken(): Promise<string>;
  /** `fetch` with the token, to `apiOrigins` alone; a 401 gets a new token and one retry. */
  readonly fetch: typeof fetch;
}

/** Specification, Limits: renewal margin of the client credentials cache. */
const MARGIN_SECONDS = 30;
/** For so long after a 401 another one fetches no new token: that did not help. */
const CALM_MILLISECONDS = 5_000;

interface Cached {
  readonly accessToken: string;
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * A cache of machine-to-machine tokens.
 *
 * @param now milliseconds since the Unix epoch
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
    const lifetime = answer.expires_in ?? UNTOLD_LIFETIME_SECONDS;
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
