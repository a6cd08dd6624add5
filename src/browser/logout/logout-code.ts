import { constantTimeEqual, sha256, signJws } from '../../crypto/index.ts';
import { numberClaim, textClaim, verifyRealmJwt } from '../../protocol/index.ts';
import type { BrowserCall } from '../call.ts';
import type { SsoSession } from '../sso/sso-session.ts';

/** A logout that waits for the user's confirmation. */
export interface LogoutRequest {
  /** `client_id` of the requesting client. */
  clientId?: string;
  /** The redirect URI, which is checked when the request arrives and again before the redirect. */
  redirectUri?: string;
  state?: string;
  /** `ui_locales` of the request, as sent. */
  uiLocales?: string;
}

/** `typ` of the JWT. No other token of the realm has this type. */
const TYPE = 'Logout-Confirm';
/** Lifetime of the confirmation page in seconds. */
const LIFETIME = 1800;

/**
 * Returns the `session_code` of the confirmation page: the signed request, bound to this browser's login, so that no
 * other site can create the form (CSRF).
 *
 * @param logins the logins that the cookies of the browser prove: usually one, sometimes none or several
 */
export function renderLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  logout: LogoutRequest,
  logins: readonly SsoSession[],
): Promise<string> {
  return signJws(ctx.keys.signingKey(configuration, 'HS512'), {
    iss: issuer,
    typ: TYPE,
    exp: now + LIFETIME,
    browser: bind(logins),
    ...logout,
  });
}

/**
 * Reads the code of a confirmation page. Returns undefined for an invalid or expired code, or a code of other logins.
 * If the same page in another tab has ended all logins, the code is accepted, because another site could not end
 * anything with it.
 */
export function readLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  code: string | undefined,
  logins: readonly SsoSession[],
): LogoutRequest | undefined {
  const claims = code === undefined ? undefined : verifyRealmJwt(ctx, configuration, code);
  if (claims === undefined || claims['typ'] !== TYPE || claims['iss'] !== issuer) return undefined;
  if ((numberClaim(claims, 'exp') ?? 0) <= now) return undefined;
  if (logins.length > 0 && !constantTimeEqual(textClaim(claims, 'browser') ?? '', bind(logins)))
    return undefined;
  const [clientId, redirectUri, state, uiLocales] = [
    textClaim(claims, 'clientId'),
    textClaim(claims, 'redirectUri'),
    textClaim(claims, 'state'),
    textClaim(claims, 'uiLocales'),
  ];
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(state === undefined ? {} : { state }),
    ...(uiLocales === undefined ? {} : { uiLocales }),
  };
}

function bind(logins: readonly SsoSession[]): string {
  if (logins.length === 0) return 'none';
  const checkers = logins.map(({ stateChecker }) => stateChecker).sort();
  return sha256(checkers.join(' ')).toString('base64url');
}
