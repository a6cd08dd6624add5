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

/** One request of a browser to a realm that lets people log in. */
export interface BrowserCall {
  ctx: ProtocolContext;
  configuration: RealmConfiguration;
  request: BrowserRequest;
  /** Second of the request. */
  now: number;
  /** `{base_url}/realms/{realm}`. */
  issuer: string;
}

/**
 * What every endpoint of the login begins with: the realm is there and on, the transport safe enough, and no text
 * holds a NUL character. What does not hold is a page (facts §5.10, §18).
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

/** The answer where the realm asks for what is not enforced here: nobody gets in by less (contract §5). */
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

/** A page that says why a login cannot go on, with the way back to the client's own pages where it has any. */
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

/** The client's `baseUrl`, where it leads to a page. */
export function clientHome({ ctx }: BrowserCall, client: Client): string | undefined {
  const { baseUrl } = client;
  if (!baseUrl) return undefined;
  const home = baseUrl.startsWith('/') ? `${resolveRootUrl(client, ctx.baseUrl)}${baseUrl}` : baseUrl;
  return /^https?:\/\//i.test(home) && isSafeRedirect(home) ? home : undefined;
}

/** An event of this call with what is known of its client. */
export function startEvent(call: BrowserCall, type: string, client?: Client): EventDraft {
  const event = new EventDraft(call.ctx, call.configuration, type, call.request.remoteAddress);
  event.clientId = client?.clientId;
  return event;
}

/** `LOGIN`, or its error, with Keycloak's details. */
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
 * What the logout begins with: the realm and the transport. A disabled realm is no reason to stay logged in (facts
 * §18).
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
