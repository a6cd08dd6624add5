import { constantTimeEqual } from '../../crypto/index.ts';
import type { AuthenticationSession, Client } from '../../model/index.ts';
import { refuseToClient } from '../authorize/client-answer.ts';
import { findFlowError } from '../authorize/client-checks.ts';
import { isRegisteredRedirect } from '../authorize/redirect-uri.ts';
import { parseResponseType } from '../authorize/response-type.ts';
import { type BrowserCall, loginErrorPage, refuseUnenforced, startLoginEvent } from '../call.ts';
import type { BrowserAnswer } from '../contract.ts';
import { browserHashes } from '../cookies.ts';
import { errorPage, standalonePage } from '../page-frame.ts';
import { findSsoSession } from '../sso/sso-session.ts';
import { waysToClient } from '../way-on.ts';
import { readClientData, waysToRestart } from './client-data.ts';
import { stepUrl } from './login-row.ts';
import { stageOf } from './stage.ts';

/** A stored login of this browser, or the answer to send if it does not exist. */
export type OpenLogin =
  | { outcome: 'open'; row: AuthenticationSession; client: Client }
  | { outcome: 'answer'; answer: BrowserAnswer };

/**
 * Finds the login that a URL below `/login-actions/` names. The login must belong to this realm, client and browser. If
 * the login is over and the browser is logged in, the client gets Keycloak's `authentication_expired`. Otherwise the
 * user gets a page.
 *
 * @param options `form`: the request must have the form code of the current step (CSRF, replay)
 */
export async function findOpenLogin(call: BrowserCall, options: { form: boolean }): Promise<OpenLogin> {
  const { ctx, configuration, request } = call;
  const client = await ctx.store.findClient(configuration.realm.id, request.query.get('client_id') ?? '');
  if (client === undefined) return instead(errorPage(configuration, request, 'clientNotFoundMessage'));
  if (!client.enabled) return instead(errorPage(configuration, request, 'clientDisabledMessage'));
  if (options.form && isForeign(request)) {
    const event = startLoginEvent(call, client);
    event.details['reason'] = 'another site sent the form';
    event.failed('invalid_request');
    const ways = waysToRestart(call, client);
    return instead(loginErrorPage(call, client, 'invalidRequestMessage', { ways }));
  }
  const hashes = browserHashes(request);
  if (hashes.length === 0) {
    startLoginEvent(call, client).failed('cookie_not_found');
    const ways = waysToRestart(call, client);
    return instead(loginErrorPage(call, client, 'cookieNotFoundMessage', { ways }));
  }
  const tab = request.query.get('tab_id') ?? '';
  const row = tab === '' ? undefined : await ctx.store.findAuthenticationSession(tab);
  if (
    row === undefined ||
    row.realmId !== configuration.realm.id ||
    row.clientUuid !== client.id ||
    row.expiresAt <= call.now ||
    !hashes.some((hash) => hash.equals(row.browserHash))
  )
    return instead(await answerGone(call, client));
  if (!isRegisteredRedirect(client, row.request.redirectUri, ctx.baseUrl)) {
    // The URI is no longer registered for the client, so it must not get the response.
    startLoginEvent(call, client).failed('invalid_redirect_uri');
    const values = { name: 'redirect_uri' };
    return instead(loginErrorPage(call, client, 'invalidParameterMessage', { values }));
  }
  const unenforced = refuseUnenforced(call, client);
  if (unenforced !== undefined) return instead(unenforced);
  const flowOff = findFlowError(parseResponseType(row.request.responseType)!, client);
  if (flowOff !== undefined) {
    startLoginEvent(call, client).failed('not_allowed');
    return instead(refuseToClient(call, client, row.request, flowOff));
  }
  const code = request.query.get('session_code') ?? request.form.get('session_code') ?? '';
  if (options.form && !constantTimeEqual(code, row.formCode)) return instead(pageExpired(call, client, row));
  return { outcome: 'open', row, client };
}

/** Returns a page that asks the user to sign in again, because the account changed during the login. */
export function accountChangedPage(call: BrowserCall, client: Client): BrowserAnswer {
  return loginErrorPage(call, client, 'accountChangedMessage', {
    ways: waysToRestart(call, client, 'sign-in'),
  });
}

/** Returns the answer to a request for a login that is finished, expired or unknown. */
export async function answerGone(call: BrowserCall, client: Client): Promise<BrowserAnswer> {
  const { configuration, request } = call;
  const left = readClientData(call, client, request.query.get('client_data'));
  const sso = await findSsoSession(call.ctx, configuration, request);
  startLoginEvent(call, client).failed('expired_code');
  if (left !== undefined && sso !== undefined)
    return refuseToClient(call, client, left.to, {
      error: 'temporarily_unavailable',
      description: 'authentication_expired',
    });
  // If the request cannot be repeated, the application can send a new request.
  const restart = left?.restart;
  return standalonePage(configuration, request, {
    name: 'expired',
    page: {
      page: 'expired',
      ...(restart === undefined ? {} : { restart }),
      ways: waysToClient(call, client),
    },
    message: { kind: 'error', key: sso === undefined ? 'loginTimeoutMessage' : 'alreadyLoggedInMessage' },
    hints: { uiLocales: left?.uiLocales },
  });
}

/** Returns the answer to a form of an earlier step, from the back button, a second window or an attacker. */
function pageExpired(call: BrowserCall, client: Client, row: AuthenticationSession): BrowserAnswer {
  const path = stageOf(row).at === 'proved' ? 'required-action' : 'authenticate';
  return standalonePage(call.configuration, call.request, {
    name: 'expired',
    page: {
      page: 'expired',
      restart: stepUrl(call, client, row, { path: 'restart' }),
      continueAt: stepUrl(call, client, row, { path }),
      ways: [],
    },
    message: { kind: 'error', key: 'pageExpiredMessage' },
    hints: { chosen: row.notes['locale'], uiLocales: row.request.uiLocales },
  });
}

/** Whether the browser says that another site sent the form. Only the login's own pages send it (login CSRF). */
function isForeign({ fetchSite }: BrowserCall['request']): boolean {
  return fetchSite === 'cross-site' || fetchSite === 'same-site';
}

function instead(answer: BrowserAnswer): OpenLogin {
  return { outcome: 'answer', answer };
}
