import type { Client } from '../model/index.ts';
import { resolveRootUrl } from '../protocol/client/index.ts';
import { ACCOUNT_CLIENT } from './account/rights.ts';
import { isSafeRedirect } from './authorize/redirect-uri.ts';
import type { BrowserCall } from './call.ts';
import type { BrowserAnswer, StandalonePage, WayOn } from './contract.ts';

type Place = Pick<BrowserCall, 'ctx' | 'issuer'>;

/**
 * Returns the client's home page as an absolute URL: its `baseUrl`, or else its `rootUrl`. Undefined if neither is a web
 * address. Both are configured by an administrator, so the link is not an open redirect.
 */
export function clientHome({ ctx }: Pick<Place, 'ctx'>, client: Client): string | undefined {
  const resolved = client.rootUrl ? resolveRootUrl(client, ctx.baseUrl) : undefined;
  // The root of this service is not an application.
  const root = resolved === ctx.baseUrl ? undefined : resolved;
  const base = client.baseUrl?.startsWith('/')
    ? `${resolveRootUrl(client, ctx.baseUrl)}${client.baseUrl}`
    : client.baseUrl;
  return [base, root].find((url) => url && /^https?:\/\//i.test(url) && isSafeRedirect(url)) || undefined;
}

/** Returns the link to the client's home page. Empty if it has none. */
export function waysToClient(place: Pick<Place, 'ctx'>, client: Client | undefined): readonly WayOn[] {
  const home = client?.enabled ? clientHome(place, client) : undefined;
  return home === undefined ? [] : [{ way: 'application', url: home }];
}

/** The link to the page that asks whether to sign out. */
export function wayToSignOut({ issuer }: Pick<Place, 'issuer'>, client?: Client): WayOn {
  const query = client === undefined ? '' : `?${new URLSearchParams({ client_id: client.clientId })}`;
  return { way: 'sign-out', url: `${issuer}/protocol/openid-connect/logout${query}` };
}

/**
 * Adds a link to a page that would be a dead end: to the account pages, where the user can also sign in, or if the realm
 * has none, to the same page again or to the page that asks whether to sign out.
 */
export async function withWayOn(call: BrowserCall, answer: BrowserAnswer): Promise<BrowserAnswer> {
  if (answer.show !== 'page') return answer;
  const { page } = answer;
  if (!('ways' in page) || page.ways.length > 0) return answer;
  if (page.page === 'frontchannel-logout' && page.continueAt !== undefined) return answer;
  if (page.page === 'expired' && (page.restart !== undefined || page.continueAt !== undefined)) return answer;
  const url = await findAccountPages(call);
  if (url !== undefined)
    return { ...answer, page: { ...page, ways: [{ way: ACCOUNT_WAYS[page.page], url }] } };
  // A form cannot be opened again with a link.
  const way: WayOn = call.request.method === 'GET' ? { way: 'retry', url: '' } : wayToSignOut(call);
  return { ...answer, page: { ...page, ways: [way] } };
}

/** What the link to the account pages is called on each page. */
const ACCOUNT_WAYS = {
  error: 'account',
  expired: 'sign-in',
  info: 'sign-in',
  'logout-confirm': 'stay',
  'frontchannel-logout': 'sign-in',
} as const satisfies Record<StandalonePage['page'], WayOn['way']>;

/** Returns the URL of the realm's account pages, if the realm is enabled and has them. */
async function findAccountPages({ ctx, configuration, issuer }: BrowserCall): Promise<string | undefined> {
  const { id, settings } = configuration.realm;
  if (!settings.enabled) return undefined;
  const client = await ctx.store.findClient(id, ACCOUNT_CLIENT);
  return client?.enabled ? `${issuer}/account/` : undefined;
}
