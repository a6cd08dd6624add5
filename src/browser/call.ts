import { seconds } from '../core/index.ts';
import type { Client } from '../model/index.ts';
import {
  checkEnforceable,
  checkTransport,
  EventDraft,
  getRealm,
  issuerOf,
  type ProtocolContext,
  Refusal,
} from '../protocol/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { BrowserAnswer, BrowserRequest, WayOn } from './contract.ts';
import type { LocaleHints } from './locale.ts';
import type { RuleMessageKey } from './message-keys.ts';
import { errorPage } from './page-frame.ts';
import { waysToClient, withWayOn } from './way-on.ts';

/** A browser's request to an enabled realm. */
export interface BrowserCall {
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  request: BrowserRequest;
  /** Unix time in seconds of the request. */
  now: number;
  /** `{base_url}/realms/{realm}`. */
  issuer: string;
}

/**
 * Runs `work` after the checks that all login endpoints share: the realm is enabled, the transport meets the realm's
 * requirement, and no parameter contains a NUL character. If a check fails, returns an error page
 * (docs/keycloak/login.md#errors-shown-as-a-page).
 *
 * @throws Refusal `realm-not-found`
 */
export async function withBrowserCall(
  ctx: ProtocolContext,
  request: BrowserRequest,
  work: (call: BrowserCall) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const configuration = await getRealm(ctx, request.realm);
  const call: BrowserCall = {
    ctx,
    configuration,
    request,
    now: seconds(ctx.clock),
    issuer: issuerOf(ctx, configuration),
  };
  return withWayOn(call, await runChecked(call, work));
}

async function runChecked(
  call: BrowserCall,
  work: (call: BrowserCall) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const { configuration, request } = call;
  try {
    checkTransport(configuration, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    startLoginEvent(call).refused(error);
    return errorPage(configuration, request, 'httpsRequiredMessage', { name: 'https-required' });
  }
  if (!configuration.realm.settings.enabled) {
    startLoginEvent(call).failed('realm_disabled');
    return errorPage(configuration, request, 'realmNotEnabledMessage');
  }
  if (holdsNul(request.query) || holdsNul(request.form)) {
    startLoginEvent(call).failed('invalid_request');
    return errorPage(configuration, request, 'invalidRequestMessage');
  }
  return work(call);
}

/**
 * Returns an error page if the realm or client demands more than idkit enforces, because a login must not be weaker
 * than demanded (docs/keycloak/tokens.md#demands).
 */
export function refuseUnenforced(call: BrowserCall, client: Client): BrowserAnswer | undefined {
  try {
    checkEnforceable(call.configuration, client, 'browser');
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    startLoginEvent(call, client).refused(error);
    return loginErrorPage(call, client, 'loginRefusedMessage');
  }
}

/**
 * Returns a page that says why a login cannot continue.
 *
 * @param options `ways`: links that lead on. Default: the client's home page, if there is one.
 */
export function loginErrorPage(
  call: BrowserCall,
  client: Client,
  key: RuleMessageKey,
  options: {
    values?: Readonly<Record<string, string>>;
    detail?: string;
    ways?: readonly WayOn[];
    hints?: LocaleHints;
  } = {},
): BrowserAnswer {
  return errorPage(call.configuration, call.request, key, { ways: waysToClient(call, client), ...options });
}

/** Starts an event of this call. */
export function startEvent(call: BrowserCall, type: string, client?: Client): EventDraft {
  const event = new EventDraft(call.ctx, call.configuration, type, call.request.remoteAddress);
  event.clientId = client?.clientId;
  return event;
}

/** Starts a `LOGIN` event with Keycloak's detail `auth_method`. */
export function startLoginEvent(call: BrowserCall, client?: Client): EventDraft {
  const event = startEvent(call, 'LOGIN', client);
  event.details['auth_method'] = 'openid-connect';
  return event;
}

function holdsNul(values: ReadonlyMap<string, string>): boolean {
  for (const [name, value] of values) if (name.includes('\0') || value.includes('\0')) return true;
  return false;
}

/**
 * Runs `work` after the checks that all logout endpoints share: the transport meets the realm's requirement, and no
 * parameter contains a NUL character. If a check fails, returns an error page. A disabled realm does not prevent a
 * logout (docs/keycloak/tokens.md#disabled-realm-or-client).
 *
 * @throws Refusal `realm-not-found`
 */
export async function withLogoutCall(
  ctx: ProtocolContext,
  request: BrowserRequest,
  work: (call: BrowserCall) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const configuration = await getRealm(ctx, request.realm);
  const issuer = issuerOf(ctx, configuration);
  const call: BrowserCall = { ctx, configuration, request, now: seconds(ctx.clock), issuer };
  return withWayOn(call, await runLogout(call, work));
}

async function runLogout(
  call: BrowserCall,
  work: (call: BrowserCall) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const { configuration, request } = call;
  try {
    checkTransport(configuration, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return errorPage(configuration, request, 'httpsRequiredMessage', { name: 'https-required' });
  }
  if (holdsNul(request.query) || holdsNul(request.form))
    return errorPage(configuration, request, 'invalidRequestMessage');
  return work(call);
}
