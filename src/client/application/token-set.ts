import { getValidatedIdTokenClaims, type TokenEndpointResponse } from 'oauth4webapi';
import { ClientError } from './client-error.ts';

/** Claims of the ID token, such as `sub`, `name`, `preferred_username`, `email`. */
export type UserClaims = Readonly<Record<string, unknown>>;

/** The tokens of one response. Times are Unix times in milliseconds, from the clock of this machine. */
export interface TokenSet {
  /** Identifies the set among the tabs. It is not a secret. */
  readonly id: string;
  /** Identifies the user session. All tokens of that session have the same value. */
  readonly session: string;
  /**
   * Of two sets of one session, the newer one has the higher order. It is the time of the request, but always above that
   * of the set that it replaces, even if the clock was set back.
   */
  readonly order: number;
  readonly accessToken: string;
  readonly expiresAt: number;
  /** The time from which the access token must be renewed before it is used. */
  readonly renewAt: number;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly user: UserClaims;
}

/** A session renews an access token with less than this lifetime left. */
const SESSION_MARGIN_SECONDS = 60;

/** The assumed lifetime of a token without `expires_in`, which is optional (RFC 6749 §5.1). */
export const DEFAULT_LIFETIME_SECONDS = 60;

/**
 * Returns the Unix time in milliseconds at which to renew a token: `margin` seconds before it expires. A token that
 * lives shorter than two margins is renewed after half its lifetime, because otherwise every use could renew it.
 */
export function renewalTime(requestedAt: number, lifetimeSeconds: number, margin: number): number {
  return requestedAt + (lifetimeSeconds - Math.min(margin, lifetimeSeconds / 2)) * 1000;
}

/**
 * Converts a token response into a set. If the response to a refresh omits the refresh token, the ID token or the user,
 * the set keeps those of `before`.
 *
 * @param requestedAt Unix time in milliseconds at which the request was sent. Lifetimes count from then, so a slow
 *   response does not extend them
 * @throws ClientError `unexpected_answer` if the user changes (OpenID Connect Core 1.0 §12.2)
 */
export function parseTokenSet(
  response: TokenEndpointResponse,
  requestedAt: number,
  before?: TokenSet,
): TokenSet {
  const lifetime = response.expires_in ?? DEFAULT_LIFETIME_SECONDS;
  const claims = getValidatedIdTokenClaims(response);
  const id = crypto.randomUUID();
  const sub = before?.user['sub'];
  if (claims !== undefined && sub !== undefined && claims.sub !== sub) {
    throw new ClientError(
      'unexpected_answer',
      'the service returned the tokens of another user in response to a refresh',
    );
  }
  const sid = claims?.['sid'];
  return {
    id,
    // Without a `sid`, the library cannot know that two logins share a user session, so it keeps them separate.
    session: sid === undefined ? (before?.session ?? id) : JSON.stringify([claims?.sub, sid]),
    order: Math.max(requestedAt, (before?.order ?? 0) + 1),
    accessToken: response.access_token,
    expiresAt: requestedAt + lifetime * 1000,
    renewAt: renewalTime(requestedAt, lifetime, SESSION_MARGIN_SECONDS),
    refreshToken: response.refresh_token ?? before?.refreshToken,
    idToken: response.id_token ?? before?.idToken,
    user: claims ?? before?.user ?? {},
  };
}
