import type { Client } from '../../model/index.ts';
import type { ProtocolContext } from '../context.ts';
import { Refusal } from '../refusal.ts';

/**
 * Returns the origins from which a browser may use a client (claim `allowed-origins`, CORS): its `webOrigins`. The
 * entry `+` adds the origins of its redirect URIs.
 *
 * @param baseUrl replaces `${authBaseUrl}` and `${authAdminUrl}` in the root URL
 */
export function resolveWebOrigins(client: Client, baseUrl?: string): readonly string[] {
  if (!client.webOrigins.includes('+')) return client.webOrigins;
  const origins = new Set(client.webOrigins.filter((origin) => origin !== '+'));
  const root = resolveRootUrl(client, baseUrl);
  for (const uri of client.redirectUris) {
    const origin = originOf(uri.startsWith('/') ? `${root}${uri}` : uri);
    if (origin !== undefined) origins.add(origin);
  }
  return [...origins];
}

/** Returns the base of a client's relative URLs: its `rootUrl`. Default: the service's base URL. */
export function resolveRootUrl(client: Pick<Client, 'rootUrl'>, baseUrl = ''): string {
  const root = client.rootUrl ?? '';
  return root.replace(/\$\{auth(Base|Admin)Url\}/, () => baseUrl) || baseUrl;
}

/** Returns scheme, host and port as written. Browsers remove the default port when they send an origin. */
function originOf(uri: string): string | undefined {
  return /^https?:\/\/[^/?#]+/.exec(uri)?.[0];
}

/**
 * Returns the origin that may read the response: the request's origin, if the client's `webOrigins` contain it.
 *
 * @throws Refusal `invalid-origin` for any other origin, before the endpoint does its work
 *   (docs/keycloak/errors.md#cors)
 */
export function checkOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string | undefined,
): string | undefined {
  if (origin === undefined || isAllowedOrigin(ctx, client, origin)) return origin;
  throw new Refusal('invalid-origin', { detail: `client ${client.clientId} does not allow the origin` });
}

/** Whether pages of an origin may read the responses to a client (docs/keycloak/errors.md#cors). */
export function isAllowedOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string,
): boolean {
  const allowed = resolveWebOrigins(client, ctx.baseUrl);
  return allowed.includes('*') || (origin !== 'null' && allowed.includes(origin));
}
