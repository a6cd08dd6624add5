import { randomId } from '../core/index.ts';
import { sha256 } from '../crypto/index.ts';
import type { ProtocolContext } from '../protocol/index.ts';
import type { BrowserRequest, CookieChange } from './contract.ts';

/** Values of one cookie name that are looked at; a parent domain can add many. */
const MOST_VALUES = 8;

/** Random bytes of a browser's cookie. */
const BROWSER_ID_BYTES = 32;
const browserIdShape = /^[A-Za-z0-9_-]{43}$/;

/** The values that a browser sent under one name, without those that none of our cookies is as long as. */
export function cookieValues(
  request: Pick<BrowserRequest, 'cookies'>,
  name: CookieChange['name'],
): readonly string[] {
  const values = request.cookies.get(name) ?? [];
  return [...new Set(values)].filter((value) => value !== '' && value.length <= 4096).slice(0, MOST_VALUES);
}

/** The browser's own cookie: what it sent that looks like one, or a new one. */
export interface BrowserIdentity {
  /** SHA-256 of the value; the only form in which it is stored. */
  hash: Buffer;
  /** Sets the cookie where the browser had none. */
  cookies: readonly CookieChange[];
}

/** Hashes of every value of `AUTH_SESSION_ID` that this service could have given. */
export function browserHashes(request: Pick<BrowserRequest, 'cookies'>): readonly Buffer[] {
  return cookieValues(request, 'AUTH_SESSION_ID')
    .filter((value) => browserIdShape.test(value))
    .map((value) => sha256(value));
}

/**
 * The browser that a new authentication session is bound to. Of several values the first counts: whoever tossed
 * one in knows it, but neither the tab nor the form's code that a login needs beside it.
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
