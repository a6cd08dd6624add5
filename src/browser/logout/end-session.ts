import type { Client, UserSession } from '../../model/index.ts';
import { resolveRootUrl } from '../../protocol/client/index.ts';
import { endSessionOf } from '../../protocol/session/index.ts';
import type { SessionWithClients } from '../../store/index.ts';
import { matchesRedirects } from '../authorize/redirect-uri.ts';
import { type BrowserCall, startEvent, withLogoutCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint, WayOn } from '../contract.ts';
import { errorPage, pageAnswer, standalonePage } from '../page-frame.ts';
import { readIdTokenHint } from '../sso/id-token-hint.ts';
import { clearSsoCookies } from '../sso/sso-cookies.ts';
import { listSsoSessions, type SsoSession } from '../sso/sso-session.ts';
import { clientHome, waysToClient } from '../way-on.ts';
import { frontChannelFrames } from './front-channel-logout.ts';
import { type LogoutRequest, readLogoutCode, renderLogoutCode } from './logout-code.ts';

/**
 * RP-initiated logout, `GET|POST …/logout` (RP-Initiated Logout 1.0 §2; docs/keycloak/logout.md#logout-in-the-browser).
 * A client that presents an ID token of the session ends it without a confirmation. All other logouts need the user's
 * confirmation, so that no other page can log users out.
 *
 * @throws Refusal `realm-not-found`
 */
export const requestLogout: BrowserEndpoint = (ctx, request) =>
  withLogoutCall(ctx, request, async (call) => {
    const sent = request.method === 'POST' ? request.form : request.query;
    const [hint, clientId, redirectUri, state, uiLocales] = [
      sent.get('id_token_hint'),
      sent.get('client_id'),
      sent.get('post_logout_redirect_uri'),
      sent.get('state'),
      sent.get('ui_locales')?.slice(0, 255),
    ];
    const event = startEvent(call, 'LOGOUT');
    let client: Client | undefined;
    const refuse = (
      key: 'invalidParameterMessage' | 'missingParametersMessage' | 'invalidRedirectUriMessage',
      error: string,
      name?: string,
    ) => {
      event.failed(error);
      return errorPage(call.configuration, request, key, {
        hints: { uiLocales },
        ways: waysToClient(call, client),
        ...(name === undefined ? {} : { values: { name } }),
      });
    };

    // 1. Find the client.
    const hinted = hint === undefined ? undefined : readIdTokenHint(call, hint);
    if (hint !== undefined && hinted === undefined)
      return refuse('invalidParameterMessage', 'invalid_token', 'id_token_hint');
    if (hinted !== undefined && clientId !== undefined && hinted.clientId !== clientId)
      return refuse('invalidParameterMessage', 'invalid_token', 'id_token_hint');
    const requesterId = clientId ?? hinted?.clientId;
    if (requesterId !== undefined)
      client = await ctx.store.findClient(call.configuration.realm.id, requesterId);
    // The event names only an existing client, because the metrics keep a series for each name.
    event.clientId = client?.clientId;

    // 2. Check the redirect URI.
    if (redirectUri !== undefined && requesterId === undefined)
      return refuse('missingParametersMessage', 'invalid_request', 'id_token_hint');
    if (redirectUri !== undefined && !isLogoutRedirect(client, redirectUri, ctx.baseUrl))
      return refuse('invalidRedirectUriMessage', 'invalid_redirect_uri');
    const logout: LogoutRequest = {
      ...(client === undefined ? {} : { clientId: client.clientId }),
      ...(redirectUri === undefined ? {} : { redirectUri, ...(state === undefined ? {} : { state }) }),
      ...(uiLocales === undefined ? {} : { uiLocales }),
    };

    // 3. Find the sessions to end.
    const logins = await listSsoSessions(ctx, call.configuration, request);
    if (hinted?.sessionId !== undefined) {
      const session = await findSessionOf(call, hinted.sessionId, hinted.userId);
      const ending = session === undefined ? [] : [session];
      const others = logins.filter((login) => login.session.id !== hinted.sessionId);
      if (others.length === 0) return end(call, logout, ending, client);
      // The browser now has another login, to which the hint does not apply.
      await endAndLog(call, ending, client);
      return askToConfirm(call, logout, others, client);
    }
    if (logins.length === 0 && redirectUri !== undefined) return finishLogout(call, logout, [], client);
    return askToConfirm(call, logout, logins, client);
  });

/**
 * `POST …/logout/logout-confirm`: the user has confirmed on a page of this browser's login. If cookies prove several
 * logins (cookie tossing), all of them end. The service cannot know which one is the user's, and the user wants to log
 * out.
 */
export const confirmLogout: BrowserEndpoint = (ctx, request) =>
  withLogoutCall(ctx, request, async (call) => {
    const logins = await listSsoSessions(ctx, call.configuration, request);
    const logout = readLogoutCode(
      call,
      request.query.get('session_code') ?? request.form.get('session_code'),
      logins,
    );
    if (logout === undefined || !request.form.has('confirmLogout')) {
      startEvent(call, 'LOGOUT').failed('session_expired');
      return errorPage(call.configuration, request, 'pageExpiredMessage');
    }
    const client =
      logout.clientId === undefined
        ? undefined
        : await ctx.store.findClient(call.configuration.realm.id, logout.clientId);
    // The redirect URI may have been removed from the client since the page was shown.
    const { redirectUri, ...rest } = logout;
    const kept = redirectUri !== undefined && isLogoutRedirect(client, redirectUri, ctx.baseUrl);
    const ending = logins.map(({ session }) => session);
    return end(call, kept ? logout : rest, ending, client);
  });

async function end(
  call: BrowserCall,
  logout: LogoutRequest,
  sessions: readonly UserSession[],
  client: Client | undefined,
): Promise<BrowserAnswer> {
  const ended = await endAndLog(call, sessions, client);
  const frames = await Promise.all(ended.map((one) => frontChannelFrames(call, one)));
  return finishLogout(call, logout, frames.flat(), client);
}

/** Ends the sessions and returns those that this call ended, with their clients. */
async function endAndLog(
  call: BrowserCall,
  sessions: readonly UserSession[],
  client: Client | undefined,
): Promise<readonly SessionWithClients[]> {
  const ended: SessionWithClients[] = [];
  for (const session of sessions) {
    const one = await endSessionOf(call.ctx, session);
    if (one === undefined) continue;
    const event = startEvent(call, 'LOGOUT', client);
    event.userId = session.userId;
    event.sessionId = session.id;
    event.succeeded();
    ended.push(one);
  }
  return ended;
}

/**
 * Shows the clients' frames first, then redirects. If there are neither frames nor a redirect URI, shows a page that
 * confirms the logout.
 */
function finishLogout(
  call: BrowserCall,
  logout: LogoutRequest,
  frames: readonly { client: string; url: string }[],
  client: Client | undefined,
): BrowserAnswer {
  const { configuration, request } = call;
  const cookies = clearSsoCookies();
  const ways = waysToClient(call, client);
  const to = logout.redirectUri === undefined ? undefined : withState(logout.redirectUri, logout.state);
  const hints = { uiLocales: logout.uiLocales };
  if (frames.length > 0) {
    const page = {
      page: 'frontchannel-logout' as const,
      frames,
      ...(to === undefined ? {} : { continueAt: to }),
      ways,
    };
    return standalonePage(configuration, request, { page, cookies, hints });
  }
  if (to !== undefined) return { show: 'redirect', to, cookies };
  return standalonePage(configuration, request, {
    page: { page: 'info', ways },
    message: { kind: 'success', key: 'successLogout' },
    cookies,
    hints,
  });
}

/** Maximum length of a form code in characters. The code is part of a URL, and servers limit the length of URLs. */
const MOST_OF_A_CODE = 11_000;

async function askToConfirm(
  call: BrowserCall,
  logout: LogoutRequest,
  logins: readonly SsoSession[],
  client: Client | undefined,
): Promise<BrowserAnswer> {
  const { configuration, request, issuer } = call;
  const code = await renderLogoutCode(call, logout, logins);
  const action = `${issuer}/protocol/openid-connect/logout/logout-confirm?${new URLSearchParams({ session_code: code })}`;
  const name = client === undefined ? undefined : client.name || client.clientId;
  const home = client?.enabled ? clientHome(call, client) : undefined;
  const ways: readonly WayOn[] = home === undefined ? [] : [{ way: 'stay', url: home }];
  const hints = { user: logins[0]?.user.attributes['locale']?.[0], uiLocales: logout.uiLocales };
  if (code.length > MOST_OF_A_CODE)
    return errorPage(configuration, request, 'invalidParameterMessage', { hints, values: { name: 'state' } });
  return pageAnswer(configuration, request, {
    page: { page: 'logout-confirm', action, ...(name === undefined ? {} : { client: name }), ways },
    hints,
  });
}

/**
 * Adds the state to the redirect URI, unchanged except for URL encoding. A request without a state gets none back
 * (RP-Initiated Logout §2).
 */
function withState(uri: string, state: string | undefined): string {
  if (state === undefined) return uri;
  return `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`;
}

/**
 * Whether the browser may be redirected to a URI of a client after a logout. The client's attribute
 * `post.logout.redirect.uris` lists URIs separated by `##`. If it is `+` or missing, the client's redirect URIs are
 * allowed (docs/keycloak/logout.md#post-logout-redirect-uris).
 */
function isLogoutRedirect(client: Client | undefined, uri: string, baseUrl: string): boolean {
  if (client === undefined || !client.enabled) return false;
  const named = client.attributes['post.logout.redirect.uris'];
  if (named === '-') return false;
  const entries = named === undefined || named === '' ? ['+'] : named.split('##');
  const registered = entries.flatMap((entry) => (entry === '+' ? client.redirectUris : [entry]));
  return matchesRedirects(registered, uri, resolveRootUrl(client, baseUrl));
}

async function findSessionOf(
  { ctx, configuration }: BrowserCall,
  id: string,
  userId: string,
): Promise<UserSession | undefined> {
  const session = await ctx.store.findSession(id, false);
  return session?.realmId === configuration.realm.id && session.userId === userId ? session : undefined;
}
