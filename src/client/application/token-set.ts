import { getValidatedIdTokenClaims, type TokenEndpointResponse } from 'oauth4webapi';
import { ClientError } from './client-error.ts';

/** The claims of the ID token, such as `sub`, `name`, `preferred_username`, `email`. */
export type UserClaims = Readonly<Record<string, unknown>>;

/** The tokens of one response. Times are Unix times in milliseconds, by this machine's clock. */
export interface TokenSet {
  /** Identifies this set among tabs. It is not a secret. */
  readonly id: string;
  /** The same for all tokens of one user session. */
  readonly session: string;
  readonly accessToken: string;
  readonly expiresAt: number;
  /** From this time on the access token is renewed before it is used. */
  readonly renewAt: number;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly user: UserClaims;
}

/** How long before its end a token is renewed. */
const SESSION_MARGIN_SECONDS = 60;

/** For a response without `expires_in`, which is optional (RFC 6749 §5.1). */
export const DEFAULT_LIFETIME_SECONDS = 60;

/**
 * Returns the time at which to renew a token: `margin` seconds before its end. If the lifetime is shorter than twice the
 * margin, returns half of the lifetime, so that renewals do not follow each other immediately.
 */
export function renewalTime(asked: number, lifetimeSeconds: number, margin: number): number {
  return asked + (lifetimeSeconds - Math.min(margin, lifetimeSeconds / 2)) * 1000;
}

/**
 * Converts a token response, and copies the fields that a renewal omits from the set before.
 *
 * @param requestedAt when the request was sent. Lifetimes count from then, so a slow response shortens them.
 * @throws ClientError `unexpected_answer` if the user changes (OpenID Connect Core 1.0 §12.2)
 */
export function parseTokenSet(
  answer: TokenEndpointResponse,
  requestedAt: number,
  before?: TokenSet,
): TokenSet {
  const lifetime = answer.expires_in ?? DEFAULT_LIFETIME_SECONDS;
  const claims = getValidatedIdTokenClaims(answer);
  const id = crypto.randomUUID();
  const sub = before?.user['sub'];
  if (claims !== undefined && sub !== undefined && claims.sub !== sub) {
    throw new ClientError('unexpected_answer', 'the service returned the tokens of another user');
  }
  const sid = claims?.['sid'];
  return {
    id,
    // Without a `sid`, two tabs cannot know that their logins are one session, so they do not share tokens.
    session: sid === undefined ? (before?.session ?? id) : JSON.stringify([claims?.sub, sid]),
    accessToken: answer.access_token,
    expiresAt: requestedAt + lifetime * 1000,
    renewAt: renewalTime(requestedAt, lifetime, SESSION_MARGIN_SECONDS),
    refreshToken: answer.refresh_token ?? before?.refreshToken,
    idToken: answer.id_token ?? before?.idToken,
    user: claims ?? before?.user ?? {},
  };
}
