import type { Client } from '../../model/index.ts';

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
