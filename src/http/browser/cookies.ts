import type { FastifyRequest } from 'fastify';
import type { CookieChange } from '../../browser/index.ts';

/**
 * Every value of every cookie, in the order sent. A parent domain or another port can add a cookie of a name that
 * is ours (cookie tossing), so none is dropped here: who reads them judges each.
 */
export function parseCookies(header: string | undefined): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    const values = cookies.get(name);
    if (values === undefined) cookies.set(name, [value]);
    else values.push(value);
  }
  return cookies;
}

/** Characters that a cookie's value may have (RFC 6265 §4.1.1). */
const valueShape = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/**
 * One `Set-Cookie` line (facts §12). In a context that is not secure a browser takes neither `Secure` nor
 * `SameSite=None`. An empty value clears the cookie.
 *
 * @param place `path`: ends with a slash; `secure`: the browser's context
 */
export function serializeCookie(change: CookieChange, place: { path: string; secure: boolean }): string {
  const { name, value, httpOnly, sameSite, maxAge } = change;
  // Only a fault of the rules could bring one; it must not become a header of its own.
  if (!valueShape.test(value)) throw new Error(`a value of cookie ${name} has characters that none may have`);
  const parts = [`${name}=${value}`, `Path=${place.path}`];
  if (value === '') parts.push('Max-Age=0', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT');
  else if (maxAge !== undefined) parts.push(`Max-Age=${Math.max(0, Math.floor(maxAge))}`);
  if (httpOnly) parts.push('HttpOnly');
  if (place.secure) parts.push('Secure', `SameSite=${sameSite}`);
  else parts.push(`SameSite=${sameSite === 'None' ? 'Lax' : sameSite}`);
  return parts.join('; ');
}

/** `/realms/{realm}/` below the base URL's path, as browsers write it. */
export function cookiePath(baseUrl: string, realm: string): string {
  return `${basePathOf(baseUrl)}/realms/${encodeURIComponent(realm)}/`;
}

/** Path of the base URL without a slash at its end; empty where it has none. */
export function basePathOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/+$/, '') : '';
}

/**
 * Whether browsers take `Secure` cookies here: https, or http on a loopback host (facts §12). Safari takes none
 * over http, not even there.
 */
export function isSecureContext(request: FastifyRequest, baseUrl: string): boolean {
  if (request.protocol === 'https' || baseUrl.startsWith('https:')) return true;
  const agent = request.headers['user-agent'] ?? '';
  if (/\bSafari\//.test(agent) && !/\b(?:Chrome|Chromium|HeadlessChrome|Edg|OPR)\//.test(agent)) return false;
  return isLoopback(request.hostname);
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}
