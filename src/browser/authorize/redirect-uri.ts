import type { Client } from '../../model/index.ts';
import { resolveRootUrl } from '../../protocol/client/index.ts';

/** Schemes that run or show what they hold instead of leading to an application. */
const NO_APPLICATION = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'view-source']);
/** Characters of a redirect URI at most. */
const MOST_CHARACTERS = 4096;
/** Visible ASCII that a header, a log line and an attribute of HTML take; a fragment is never part of one. */
const safe = /^[\x21-\x7e]+$/;
const unsafe = /[\\<>"#]/;

/** Where answers go: the URI itself, and whether the client sent it (RFC 6749 §4.1.3). */
export interface RedirectTarget {
  uri: string;
  sent: boolean;
}

/**
 * The redirect URI of a request: the one that was sent where the client has registered it; where none was sent and
 * the request is no OpenID Connect one, the client's only one (RFC 6749 §3.1.2.3). Undefined: refuse with a page,
 * never redirect (§4.1.2.1).
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

/** Whether a client's `redirectUris` name a URI. */
export function isRegisteredRedirect(client: Client, uri: string, baseUrl: string): boolean {
  return matchesRedirects(client.redirectUris, uri, resolveRootUrl(client, baseUrl));
}

/**
 * Whether one of the registered URIs is this one: byte for byte (RFC 9700 §4.1.3), with Keycloak's trailing `*` as
 * the only pattern; the port of a loopback URI over http is free (RFC 8252 §7.3).
 *
 * @param root what registered URIs that begin with a slash are relative to
 */
export function matchesRedirects(registered: readonly string[], uri: string, root: string): boolean {
  if (!isSafeRedirect(uri)) return false;
  const portless = withoutLoopbackPort(uri);
  return registered.some((entry) => {
    const pattern = absolute(entry, root);
    return matches(pattern, uri) || (portless !== undefined && matches(pattern, portless));
  });
}

/** A URI that a browser may be sent to at all. */
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
  const path = uri.split('?', 1)[0]!;
  if (`${path}/` === prefix) return true;
  return path.startsWith(prefix) && hasSameAuthority(prefix, path);
}

/**
 * A wildcard covers web addresses without a user part whose path stays where it says: no dot segments, plain,
 * encoded or encoded again.
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

/** `https://a.test*` is no pattern for `https://a.test.evil.test`, nor `https://a.test:8*` for another port's host. */
function hasSameAuthority(prefix: string, uri: string): boolean {
  const [, named, rest] = /^[^:]+:\/\/([^/]*)(.*)$/s.exec(prefix) ?? [];
  const [, actual] = /^[^:]+:\/\/([^/]*)/.exec(uri) ?? [];
  if (named === undefined || actual === undefined) return false;
  if (rest !== '' || named === actual) return named === actual;
  // `http://127.0.0.1:*`: any port of that host.
  return named.endsWith(':') && actual.startsWith(named) && /^\d{1,5}$/.test(actual.slice(named.length));
}

/** The same URI without its port where it leads to this machine over http (RFC 8252 §7.3). */
function withoutLoopbackPort(uri: string): string | undefined {
  const [, host, rest] = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}([/?].*)?$/s.exec(uri) ?? [];
  return host === undefined ? undefined : `${host}${rest ?? ''}`;
}
