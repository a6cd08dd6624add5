import { getValidatedIdTokenClaims, type TokenEndpointResponse } from 'oauth4webapi';
import { ClientError } from './client-error.ts';

/** The claims of the ID token, such as `sub`, `name`, `preferred_username`, `email`. */
export type UserClaims = Readonly<Record<string, unknown>>;

/** The tokens of one moment. Times are milliseconds since the Unix epoch, by this machine's clock. */
export interface TokenSet {
  /** Names this set among tabs; no secret. */
  readonly id: string;
  /** Equal for all tokens of one user session at the service. */
  readonly session: string;
  readonly accessToken: string;
  readonly expiresAt: number;
  /** From then on the access token is renewed before it is used. */
  readonly renewAt: number;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
  readonly user: UserClaims;
}

/** Specification, Limits: proactive renewal with 60 seconds left. */
const SESSION_MARGIN_SECONDS = 60;

/** `expires_in` may be left out (RFC 6749 §5.1). */
export const UNTOLD_LIFETIME_SECONDS = 60;

/**
 * When a token is renewed: `margin` seconds before its end, or half way where it lives less than twice as long,
 * for else a short-lived token would be renewed without end.
 */
export function renewalTime(asked: number, lifetimeSeconds: number, margin: number): number {
  return asked + (lifetimeSeconds - Math.min(margin, lifetimeSeconds / 2)) * 1000;
}

/**
 * What the token endpoint answered, with what a renewal leaves out taken from the set before.
 *
 * @throws ClientError `unexpected_answer` where the user changes (OpenID Connect Core 1.0 §12.2)
 * @param asked when the request was sent: lifetimes count from then, so that a slow answer errs on the safe side
 */
export function parseTokenSet(answer: TokenEndpointResponse, asked: number, before?: TokenSet): TokenSet {
  const lifetime = answer.expires_in ?? UNTOLD_LIFETIME_SECONDS;
  const claims = getValidatedIdTokenClaims(answer);
  const id = crypto.randomUUID();
  const sub = before?.user['sub'];
  if (claims !== undefined && sub !== undefined && claims.sub !== sub) {
    throw new ClientError('unexpected_answer', 'the service renewed the tokens of one user with another’s');
  }
  const sid = claims?.['sid'];
  return {
    id,
    // Without a `sid` the logins of two tabs cannot be known to be one session, and stay apart.
    session: sid === undefined ? (before?.session ?? id) : JSON.stringify([claims?.sub, sid]),
    accessToken: answer.access_token,
    expiresAt: asked + lifetime * 1000,
    renewAt: renewalTime(asked, lifetime, SESSION_MARGIN_SECONDS),
    refreshToken: answer.refresh_token ?? before?.refreshToken,
    idToken: answer.id_token ?? before?.idToken,
    user: claims ?? before?.user ?? {},
  };
}
