import type { Client } from '../../model/index.ts';
import type { ProtocolContext } from '../context.ts';
import { Refusal } from '../refusal.ts';

/**
 * The origins that a client may be used from (claim `allowed-origins`, CORS): its `webOrigins`, with `+` standing
 * for the origins of its redirect URIs.
 *
 * @param baseUrl {base_url}; stands in for `${authBaseUrl}` and `${authAdminUrl}` in the root URL
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

/** What a client's relative URLs are relative to: its `rootUrl`, else {base_url}. */
export function resolveRootUrl(client: Pick<Client, 'rootUrl'>, baseUrl = ''): string {
  const root = client.rootUrl ?? '';
  return root.replace(/\$\{auth(Base|Admin)Url\}/, () => baseUrl) || baseUrl;
}

/** Scheme, host and port as they are written: a browser sends the default port away itself. */
function originOf(uri: string): string | undefined {
  return /^https?:\/\/[^/?#]+/.exec(uri)?.[0];
}

/**
 * The origin that may read the answer: the one of the request where the client's `webOrigins` name it.
 *
 * @throws Refusal `invalid-origin` for any other, before the endpoint does anything (facts §1, [26.6.3])
 */
export function checkOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string | undefined,
): string | undefined {
  if (origin === undefined || isAllowedOrigin(ctx, client, origin)) return origin;
  throw new Refusal('invalid-origin', { detail: `origin is none of client ${client.clientId}` });
}

/** Whether pages of an origin may read what is answered to a client (facts §1). */
export function isAllowedOrigin(
  ctx: Pick<ProtocolContext, 'baseUrl'>,
  client: Client,
  origin: string,
): boolean {
  const allowed = resolveWebOrigins(client, ctx.baseUrl);
  return allowed.includes('*') || (origin !== 'null' && allowed.includes(origin));
}
