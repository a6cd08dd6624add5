import type { FastifyRequest } from 'fastify';
import type { CookieChange } from '../../browser/index.ts';

/**
 * Returns every value of every cookie, in the order of the header. A parent domain or another port can add a cookie
 * with one of our names (cookie tossing). Callers therefore have to check each value of a cookie.
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

/** The characters that RFC 6265 §4.1.1 allows in the value of a cookie. */
const valueShape = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/**
 * Returns the value of a `Set-Cookie` header (docs/keycloak/pages.md#cookies). In an insecure context a browser accepts
 * neither `Secure` nor `SameSite=None`. An empty value clears the cookie.
 *
 * @param place `path` ends with a slash; `secure` says whether the browser's context is secure
 */
export function serializeCookie(change: CookieChange, place: { path: string; secure: boolean }): string {
  const { name, value, httpOnly, sameSite, maxAge } = change;
  // Only a bug could create an invalid value, but even then the value must not inject another header.
  if (!valueShape.test(value)) throw new Error(`the value of cookie ${name} contains invalid characters`);
  const parts = [`${name}=${value}`, `Path=${place.path}`];
  if (value === '') parts.push('Max-Age=0', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT');
  else if (maxAge !== undefined) parts.push(`Max-Age=${Math.max(0, Math.floor(maxAge))}`);
  if (httpOnly) parts.push('HttpOnly');
  if (place.secure) parts.push('Secure', `SameSite=${sameSite}`);
  else parts.push(`SameSite=${sameSite === 'None' ? 'Lax' : sameSite}`);
  return parts.join('; ');
}

/** The path `/realms/{realm}/` below the base URL, percent-encoded as in browsers. */
export function cookiePath(baseUrl: string, realm: string): string {
  return `${basePathOf(baseUrl)}/realms/${encodeURIComponent(realm)}/`;
}

/** The path of the base URL without a trailing slash. Empty for the root. */
export function basePathOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/+$/, '') : '';
}

/**
 * Whether browsers accept `Secure` cookies: over https, or over http on a loopback host
 * (docs/keycloak/pages.md#cookies). Safari rejects them over http even there.
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
