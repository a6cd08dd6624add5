import { constantTimeEqual, sha256, signJws } from '../../crypto/index.ts';
import { numberClaim, textClaim } from '../jwt.ts';
import { verifyRealmJwt } from '../realm-jwt.ts';
import type { BrowserCall } from './call.ts';

/** What a logout that waits for the user's yes goes on with. */
export interface LogoutAsked {
  /** `client_id` of whoever asked. */
  clientId?: string;
  /** Checked when it was asked, and again when it is used. */
  redirectUri?: string;
  state?: string;
}

/** `typ` of the JWT; no other token of the realm has it. */
const TYPE = 'Logout-Confirm';
/** Seconds that the page may stay open. */
const LIFETIME = 1800;

/**
 * The `session_code` of the confirmation page: what was asked for, signed, and bound to this browser's login, so
 * that no other site can make the form (CSRF).
 *
 * @param stateChecker of the login that the page is about; undefined where there is none
 */
export function renderLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  asked: LogoutAsked,
  stateChecker: string | undefined,
): Promise<string> {
  return signJws(ctx.keys.signingKey(configuration, 'HS512'), {
    iss: issuer,
    typ: TYPE,
    exp: now + LIFETIME,
    browser: bind(stateChecker),
    ...asked,
  });
}

/** Undefined for a code that is none, is too old or belongs to another login. */
export function readLogoutCode(
  { ctx, configuration, issuer, now }: BrowserCall,
  code: string | undefined,
  stateChecker: string | undefined,
): LogoutAsked | undefined {
  const claims = code === undefined ? undefined : verifyRealmJwt(ctx, configuration, code);
  if (claims === undefined || claims['typ'] !== TYPE || claims['iss'] !== issuer) return undefined;
  if ((numberClaim(claims, 'exp') ?? 0) <= now) return undefined;
  if (!constantTimeEqual(textClaim(claims, 'browser') ?? '', bind(stateChecker))) return undefined;
  const [clientId, redirectUri, state] = [
    textClaim(claims, 'clientId'),
    textClaim(claims, 'redirectUri'),
    textClaim(claims, 'state'),
  ];
  return {
    ...(clientId === undefined ? {} : { clientId }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(state === undefined ? {} : { state }),
  };
}

function bind(stateChecker: string | undefined): string {
  return stateChecker === undefined ? 'none' : sha256(stateChecker).toString('base64url');
}
