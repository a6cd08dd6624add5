import type { Client } from '../../model/index.ts';
import { resolveRootUrl } from '../../protocol/client/index.ts';

/** Schemes of URLs that a browser runs or displays itself, instead of opening an application. */
const NO_APPLICATION = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'view-source']);
/** Maximum length of a redirect URI in characters. */
const MOST_CHARACTERS = 4096;
/** Visible ASCII, without spaces. */
const safe = /^[\x21-\x7e]+$/;
/** Characters that are unsafe in a header, a log line or an HTML attribute, and the start of a fragment. */
const unsafe = /[\\<>"#]/;

/** The redirect URI, and whether the client sent it (RFC 6749 §4.1.3). */
export interface RedirectTarget {
  uri: string;
  sent: boolean;
}

/**
 * Returns the redirect URI of a request: the one that the client sent, if it is registered. If the request contains no
 * redirect URI, returns the client's only registered URI, unless the request is an OpenID Connect request (RFC 6749
 * §3.1.2.3). If the result is undefined, the caller shows a page and never redirects (§4.1.2.1).
 */
export function findRedirectTarget(
  client: Client,
  sent: string | undefined,
  options: { baseUrl: string; openid: boolean },
): RedirectTarget | undefined {
  if (sent !== undefined)
    return isRegisteredRedirect(client, sent, options.baseUrl) ? { uri: sent, sent: true } : undefined;
  const [only, ...others] = client.redirectUris;
  if (options.openid || only === undefined || others.length > 0 || only.endsWith('*')) return undefined;
  const uri = absolute(only, resolveRootUrl(client, options.baseUrl));
  return isSafeRedirect(uri) ? { uri, sent: false } : undefined;
}

/** Whether a client's `redirectUris` contain a URI. */
export function isRegisteredRedirect(client: Client, uri: string, baseUrl: string): boolean {
  return matchesRedirects(client.redirectUris, uri, resolveRootUrl(client, baseUrl));
}

/**
 * Whether one of the registered URIs matches: byte for byte (RFC 9700 §4.1.3), with Keycloak's trailing `*` as the only
 * pattern. The port of an http loopback URI may differ (RFC 8252 §7.3).
 *
 * @param root the base of registered URIs that begin with a slash
 */
export function matchesRedirects(registered: readonly string[], uri: string, root: string): boolean {
  if (!isSafeRedirect(uri)) return false;
  const portless = withoutLoopbackPort(uri);
  return registered.some((entry) => {
    const pattern = absolute(entry, root);
    return matches(pattern, uri) || (portless !== undefined && matches(pattern, portless));
  });
}

/** Whether a browser may be redirected to a URI. */
export function isSafeRedirect(uri: string): boolean {
  if (uri.length > MOST_CHARACTERS || !safe.test(uri) || unsafe.test(uri)) return false;
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined || NO_APPLICATION.has(scheme)) return false;
  return !scheme.startsWith('http') || URL.canParse(uri);
}

function absolute(entry: string, root: string): string {
  return entry.startsWith('/') ? `${root.replace(/\/$/, '')}${entry}` : entry;
}

function matches(pattern: string, uri: string): boolean {
  if (pattern === uri && !pattern.endsWith('*')) return true;
  if (!pattern.endsWith('*') || pattern.includes('?') || !mayBeUnderWildcard(uri)) return false;
  if (pattern === '*') return true;
  const prefix = pattern.slice(0, -1);
  const [path = ''] = uri.split('?', 1);
  if (`${path}/` === prefix) return true;
  return path.startsWith(prefix) && hasSameAuthority(prefix, path);
}

/**
 * Whether a wildcard may match a URI. The URI must be a web address without a user part. Its path must not have dot
 * segments, backslashes or NUL characters, even if they are percent-encoded, once or several times.
 */
function mayBeUnderWildcard(uri: string): boolean {
  const [, authority, path] = /^https?:\/\/([^/?]*)([^?]*)/.exec(uri) ?? [];
  if (authority === undefined || path === undefined || authority.includes('@')) return false;
  let decoded = path;
  for (let depth = 0; depth < 4; depth++) {
    if (/(?:^|[/\\;])\.{1,2}(?:[/\\;]|$)/.test(decoded) || /[\\\0]/.test(decoded)) return false;
    const next = decodePath(decoded);
    if (next === undefined) return false;
    if (next === decoded) return true;
    decoded = next;
  }
  return false;
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/**
 * Whether a URI has the host and port of a wildcard's prefix. Without this check, `https://a.test*` would match
 * `https://a.test.evil.test`, and `https://a.test:8*` would match other ports.
 */
function hasSameAuthority(prefix: string, uri: string): boolean {
  const [, named, rest] = /^[^:]+:\/\/([^/]*)(.*)$/s.exec(prefix) ?? [];
  const [, actual] = /^[^:]+:\/\/([^/]*)/.exec(uri) ?? [];
  if (named === undefined || actual === undefined) return false;
  if (rest !== '' || named === actual) return named === actual;
  // `http://127.0.0.1:*` matches any port of that host.
  return named.endsWith(':') && actual.startsWith(named) && /^\d{1,5}$/.test(actual.slice(named.length));
}

/** Returns an http loopback URI without its port (RFC 8252 §7.3), or undefined for any other URI. */
function withoutLoopbackPort(uri: string): string | undefined {
  const [, host, rest] = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}([/?].*)?$/s.exec(uri) ?? [];
  return host === undefined ? undefined : `${host}${rest ?? ''}`;
}
