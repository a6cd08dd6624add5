import { randomId } from '../core/index.ts';
import { sha256 } from '../crypto/index.ts';
import type { ProtocolContext } from '../protocol/index.ts';
import type { BrowserRequest, CookieChange } from './contract.ts';

/** Maximum number of values that are read per cookie name. A parent domain can add many cookies with the same name. */
const MOST_VALUES = 8;

/** Number of random bytes in the cookie `AUTH_SESSION_ID`, which identifies a browser. */
const BROWSER_ID_BYTES = 32;
const browserIdShape = /^[A-Za-z0-9_-]{43}$/;

/**
 * Returns the values that a browser sent under one name, without values that are longer than any cookie of this
 * service.
 */
export function cookieValues(
  request: Pick<BrowserRequest, 'cookies'>,
  name: CookieChange['name'],
): readonly string[] {
  const values = request.cookies.get(name) ?? [];
  return [...new Set(values)].filter((value) => value !== '' && value.length <= 4096).slice(0, MOST_VALUES);
}

/** The cookie that identifies a browser: a valid value that the browser sent, or a new value. */
export interface BrowserIdentity {
  /** SHA-256 of the value. The value itself is not stored. */
  hash: Buffer;
  /** Sets the cookie if the browser sent no valid value. Otherwise empty. */
  cookies: readonly CookieChange[];
}

/** Returns the hashes of all valid values of `AUTH_SESSION_ID`. */
export function browserHashes(request: Pick<BrowserRequest, 'cookies'>): readonly Buffer[] {
  return cookieValues(request, 'AUTH_SESSION_ID')
    .filter((value) => browserIdShape.test(value))
    .map((value) => sha256(value));
}

/**
 * Returns the browser that a new authentication session belongs to. If the browser sent several values, the first valid
 * one counts. An attacker may have planted it, but knows neither the tab id nor the form code, which a login also
 * needs.
 */
export function identifyBrowser(
  ctx: Pick<ProtocolContext, 'random'>,
  request: Pick<BrowserRequest, 'cookies'>,
): BrowserIdentity {
  const [known] = browserHashes(request);
  if (known !== undefined) return { hash: known, cookies: [] };
  const value = randomId(ctx.random, BROWSER_ID_BYTES);
  return {
    hash: sha256(value),
    cookies: [{ name: 'AUTH_SESSION_ID', value, httpOnly: true, sameSite: 'None' }],
  };
}
