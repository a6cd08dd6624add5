import { constantTimeEqual, sha256, signJws } from '../../crypto/index.ts';
import { numberClaim, textClaim, verifyRealmJwt } from '../../protocol/index.ts';
import type { BrowserCall } from '../call.ts';
import type { SsoSession } from '../sso/sso-session.ts';

/** What a logout that waits for the user's yes goes on with. */
export interface LogoutAsked {
  /** `client_id` of whoever asked. */
  clientId?: string;
  /** Checked when it was asked, and again when it is used. */
  redirectUri?: string;
  state?: string;
  /** The languages of the client's pages, as it sent them. */
  uiLocales?: string;
}

/** `typ` of the JWT; no other token of the realm has it. */
const TYPE = 'Logout-Confirm';
/** Seconds that the page may stay open. */
const LIFETIME = 1800;

/**
 * The `session_code` of the confirmation page: what was asked for, signed, and bound to this browser's login, so
 * that no other site can make the form (CSRF).
 *
 * @param logins those that the page is about: one, none, or a mix of several
 */
export function renderLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  asked: LogoutAsked,
  logins: readonly SsoSession[],
): Promise<string> {
  return signJws(ctx.keys.signingKey(configuration, 'HS512'), {
    iss: issuer,
    typ: TYPE,
    exp: now + LIFETIME,
    browser: bind(logins),
    ...asked,
  });
}

/**
 * Undefined for a code that is none, is too old or belongs to other logins. Where nobody is logged in any more, by the
 * same page in another tab, there is nothing left that another site could end.
 */
export function readLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  code: string | undefined,
  logins: readonly SsoSession[],
): LogoutAsked | undefined {
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
