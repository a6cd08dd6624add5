import { constantTimeEqual } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import { type BrowserCall, refuseUnenforced, withBrowserCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint } from '../contract.ts';
import { errorPage } from '../page-frame.ts';
import { findSsoSession } from '../sso/sso-session.ts';
import type { AccountCall, AccountRules } from './account-page.ts';
import { answerDenied, pageUrl } from './account-page.ts';
import type { AccountPageName } from './pages.ts';
import { ACCOUNT_CLIENT, rightsOfUser } from './rights.ts';

/**
 * Returns the endpoint of an account page. A browser without a login is redirected to the login, which returns to the
 * page. A form must contain the state checker of the login (protection against CSRF).
 */
export function accountEndpoint(rules: AccountRules): BrowserEndpoint {
  return (ctx, request) =>
    withBrowserCall(ctx, request, async (call) => {
      const client = await ctx.store.findClient(call.configuration.realm.id, ACCOUNT_CLIENT);
      if (client === undefined)
        return errorPage(call.configuration, request, 'accountOffMessage', { name: 'account-off' });
      const refused = refuseClient(call, client);
      if (refused !== undefined) return refused;
      const sso = await findSsoSession(ctx, call.configuration, request);
      if (sso === undefined) return sendToLogin(call, rules.name);
      if (request.method === 'GET' && isAfterLogin(call))
        return { show: 'redirect', to: pageUrl(call, rules.name), cookies: [] };
      const rights = rightsOfUser(call.configuration, client, sso.user);
      const account: AccountCall = { ...call, client, sso, rights, page: rules.name };
      if (!rights.see || rules.may?.(rights) === false) return answerDenied(account);
      if (request.method === 'GET') return rules.show(account);
      if (!constantTimeEqual(request.form.get('stateChecker') ?? '', sso.stateChecker))
        return rules.show(account, {
          name: 'account-form-outdated',
          message: { kind: 'error', key: 'accountFormOutdatedMessage' },
        });
      return rules.submit(account);
    });
}

/**
 * Returns an error page if the client is disabled, or if the realm has demands that idkit does not enforce
 * (docs/keycloak/tokens.md#demands).
 */
function refuseClient(call: BrowserCall, client: Client): BrowserAnswer | undefined {
  const { configuration, request } = call;
  if (!client.enabled) return errorPage(configuration, request, 'accountOffMessage', { name: 'account-off' });
  return refuseUnenforced(call, client);
}

/**
 * Redirects to an authorization request that leads back to the page. It requests a login and nothing else
 * (`response_type=none`, OAuth 2.0 Multiple Response Types §4), because these pages need only the cookies. If the login
 * returned an error, returns an error page instead.
 */
function sendToLogin(call: BrowserCall, page: AccountPageName): BrowserAnswer {
  const back = pageUrl(call, page);
  if (call.request.query.has('error'))
    return errorPage(call.configuration, call.request, 'accountNotLoggedInMessage', {
      ways: [{ way: 'sign-in', url: back }],
    });
  const locale = call.request.query.get('kc_locale');
  const parameters = new URLSearchParams({
    client_id: ACCOUNT_CLIENT,
    redirect_uri: back,
    response_type: 'none',
    scope: 'openid',
    ...(locale === undefined ? {} : { ui_locales: locale }),
  });
  return { show: 'redirect', to: `${call.issuer}/protocol/openid-connect/auth?${parameters}`, cookies: [] };
}

/**
 * Whether the URL still has the parameters of the login's response. The endpoint then redirects to the URL without
 * them, so that users do not bookmark them.
 */
function isAfterLogin({ request }: BrowserCall): boolean {
  return request.query.has('session_state') || request.query.has('iss') || request.query.has('error');
}
