import { seconds } from '../core/index.ts';
import type { Client } from '../model/index.ts';
import { resolveRootUrl } from '../protocol/client/index.ts';
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
import { isSafeRedirect } from './authorize/redirect-uri.ts';
import type { BrowserAnswer, BrowserRequest } from './contract.ts';
import type { RuleMessageKey } from './message-keys.ts';
import { errorPage } from './page-frame.ts';

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
    return errorPage(call.configuration, call.request, 'loginRefusedMessage');
  }
}

/** Returns a page that says why a login cannot continue. It links to the client's home page, if there is one. */
export function loginErrorPage(
  call: BrowserCall,
  client: Client,
  key: RuleMessageKey,
  values?: Readonly<Record<string, string>>,
): BrowserAnswer {
  return errorPage(call.configuration, call.request, key, {
    backTo: clientHome(call, client),
    ...(values === undefined ? {} : { values }),
  });
}

/** Returns the client's `baseUrl` as an absolute URL, or undefined if it is not a web address. */
export function clientHome({ ctx }: BrowserCall, client: Client): string | undefined {
  const { baseUrl } = client;
  if (!baseUrl) return undefined;
  const home = baseUrl.startsWith('/') ? `${resolveRootUrl(client, ctx.baseUrl)}${baseUrl}` : baseUrl;
  return /^https?:\/\//i.test(home) && isSafeRedirect(home) ? home : undefined;
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
  try {
    checkTransport(configuration, request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return errorPage(configuration, request, 'httpsRequiredMessage', { name: 'https-required' });
  }
  for (const [name, value] of [...request.query, ...request.form])
    if (name.includes('\0') || value.includes('\0'))
      return errorPage(configuration, request, 'invalidRequestMessage');
  return work({ ctx, configuration, request, now: seconds(ctx.clock), issuer: issuerOf(ctx, configuration) });
}
