import { randomId } from '../../core/index.ts';
import { constantTimeEqual } from '../../crypto/index.ts';
import type { AuthenticationSession, AuthorizationRequest, Client } from '../../model/index.ts';
import { type BrowserCall, loginErrorPage, refuseUnenforced, startLoginEvent } from './call.ts';
import { refuseToClient } from './client-answer.ts';
import { findFlowError } from './client-checks.ts';
import { readClientData, renderClientData } from './client-data.ts';
import type { BrowserAnswer } from './contract.ts';
import { browserHashes } from './cookies.ts';
import { errorPage, standalonePage } from './page-frame.ts';
import { isRegisteredRedirect } from './redirect-uri.ts';
import { parseResponseType } from './response-type.ts';
import { findSsoSession } from './sso-session.ts';

/** Random bytes of a tab's name and of a form's code: neither can be guessed. */
const TAB_BYTES = 16;
const CODE_BYTES = 32;

/** Kinds of steps by how long they may take (facts §8.1). */
const LIFETIMES = {
  login: { setting: 'accessCodeLifespanLogin', usual: 1800 },
  action: { setting: 'accessCodeLifespanUserAction', usual: 300 },
} as const;

/** A login that is not stored yet, of one tab. */
export function newLoginRow(
  call: BrowserCall,
  client: Client,
  request: AuthorizationRequest,
  browserHash: Buffer,
): AuthenticationSession {
  return {
    id: randomId(call.ctx.random, TAB_BYTES),
    realmId: call.configuration.realm.id,
    clientUuid: client.id,
    browserHash,
    revision: 0,
    startedAt: call.now,
    expiresAt: call.now + lifetime(call, 'login'),
    request,
    formCode: randomId(call.ctx.random, CODE_BYTES),
    rememberMe: false,
    notes: {},
  };
}

/**
 * Stores the next step of a login under the same name, with a new code for its form. Undefined: another form of the
 * same tab came first.
 */
export async function storeStep(
  call: BrowserCall,
  row: AuthenticationSession,
  kind: keyof typeof LIFETIMES,
): Promise<AuthenticationSession | undefined> {
  const next: AuthenticationSession = {
    ...row,
    formCode: randomId(call.ctx.random, CODE_BYTES),
    expiresAt: call.now + lifetime(call, kind),
  };
  if ((await call.ctx.store.putAuthenticationSession(next)) === 'changed') return undefined;
  return { ...next, revision: next.revision + 1 };
}

/**
 * Stores the next step under a new name, taking the old one away: whoever knew the tab before its user proved
 * something knows it no longer (session fixation). Undefined: another form of the same tab came first.
 */
export async function moveStep(
  call: BrowserCall,
  row: AuthenticationSession,
  kind: keyof typeof LIFETIMES,
): Promise<AuthenticationSession | undefined> {
  if (row.revision > 0 && !(await call.ctx.store.removeAuthenticationSession(row.id)).removed)
    return undefined;
  return storeStep(call, { ...row, id: randomId(call.ctx.random, TAB_BYTES), revision: 0 }, kind);
}

/** URL of a page or form of the login, with Keycloak's parameters (observed authorization-endpoint). */
export function stepUrl(
  { issuer }: Pick<BrowserCall, 'issuer'>,
  client: Client,
  row: Pick<AuthenticationSession, 'id' | 'request'>,
  step: {
    path: 'authenticate' | 'required-action' | 'consent' | 'restart';
    /** Name of the step. */
    execution?: string;
    /** The form's code; absent for pages. */
    code?: string;
  },
): string {
  const parameters = new URLSearchParams({
    ...(step.code === undefined ? {} : { session_code: step.code }),
    ...(step.execution === undefined ? {} : { execution: step.execution }),
    client_id: client.clientId,
    tab_id: row.id,
    client_data: renderClientData(row.request),
  });
  return `${issuer}/login-actions/${step.path}?${parameters}`;
}

/** A stored login of this browser, or what to answer instead. */
export type OpenLogin =
  | { outcome: 'open'; row: AuthenticationSession; client: Client }
  | { outcome: 'answer'; answer: BrowserAnswer };

/**
 * The login that a URL of `/login-actions/` is about: of this realm, client and browser. Where it is over, the client
 * is told when somebody is logged in here (Keycloak: `authentication_expired`), and the user else.
 *
 * @param options `form`: its code must be the one of the step's own form (CSRF, replay)
 */
export async function findOpenLogin(call: BrowserCall, options: { form: boolean }): Promise<OpenLogin> {
  const { ctx, configuration, request } = call;
  const client = await ctx.store.findClient(configuration.realm.id, request.query.get('client_id') ?? '');
  if (client === undefined) return instead(errorPage(configuration, request, 'clientNotFoundMessage'));
  if (!client.enabled) return instead(errorPage(configuration, request, 'clientDisabledMessage'));
  if (options.form && isForeign(request)) {
    const event = startLoginEvent(call, client);
    event.details['reason'] = 'the form was sent by another site';
    event.failed('invalid_request');
    return instead(loginErrorPage(call, client, 'invalidRequestMessage'));
  }
  const hashes = browserHashes(request);
  if (hashes.length === 0) {
    startLoginEvent(call, client).failed('cookie_not_found');
    return instead(loginErrorPage(call, client, 'cookieNotFoundMessage'));
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
    // Taken from the client since: it must not get what is answered there.
    startLoginEvent(call, client).failed('invalid_redirect_uri');
    const values = { name: 'redirect_uri' };
    return instead(errorPage(configuration, request, 'invalidParameterMessage', { values }));
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

/** A login that is over: done, timed out or never there. */
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
  return standalonePage(configuration, request, {
    status: 400,
    page: { page: 'expired', ...(left === undefined ? {} : { restart: left.restart }) },
    message: { kind: 'error', key: sso === undefined ? 'loginTimeoutMessage' : 'alreadyLoggedInMessage' },
  });
}

/** A form of an earlier step of a login that goes on: back button, second window, or somebody else's form. */
function pageExpired(call: BrowserCall, client: Client, row: AuthenticationSession): BrowserAnswer {
  const path = row.userId === undefined ? 'authenticate' : 'required-action';
  return standalonePage(call.configuration, call.request, {
    status: 400,
    page: {
      page: 'expired',
      restart: stepUrl(call, client, row, { path: 'restart' }),
      continueAt: stepUrl(call, client, row, { path }),
    },
    message: { kind: 'error', key: 'pageExpiredMessage' },
    hints: { chosen: row.notes['locale'], uiLocales: row.request.uiLocales },
  });
}

function lifetime({ configuration }: BrowserCall, kind: keyof typeof LIFETIMES): number {
  const { setting, usual } = LIFETIMES[kind];
  const own = configuration.realm.settings.kept[setting];
  return typeof own === 'number' && own > 0 ? own : usual;
}

/** Forms of the login are sent by its own pages alone; a browser that says otherwise is believed (login CSRF). */
function isForeign({ fetchSite }: BrowserCall['request']): boolean {
  return fetchSite === 'cross-site' || fetchSite === 'same-site';
}

function instead(answer: BrowserAnswer): OpenLogin {
  return { outcome: 'answer', answer };
}
