import type { AuthorizationRequest, Client } from '../../model/index.ts';
import { checkEnforceable, type EventDraft, Refusal } from '../../protocol/index.ts';
import { type BrowserCall, loginErrorPage, startLoginEvent, withBrowserCall } from '../call.ts';
import type { BrowserAnswer, BrowserEndpoint, PageAnswerName, WayOn } from '../contract.ts';
import { beginLogin } from '../login/begin-login.ts';
import type { RuleMessageKey } from '../message-keys.ts';
import { errorPage } from '../page-frame.ts';
import { readIdTokenHint } from '../sso/id-token-hint.ts';
import { waysToClient } from '../way-on.ts';
import { type ReplyTo, refuseToClient } from './client-answer.ts';
import { findClientError } from './client-checks.ts';
import { type Parameters, readParameters, withRequestObject } from './parameters.ts';
import { findRedirectTarget, type RedirectTarget } from './redirect-uri.ts';
import { isOpenId, type RequestFacts, readFacts } from './request-facts.ts';
import { readRequestObject } from './request-object.ts';

/**
 * The authorization endpoint (RFC 6749 §3.1, OpenID Connect Core §3.1.2; docs/keycloak/login.md#authorization-request).
 * Until the client and its redirect URI are verified, faults are shown on a page. After that, they are sent to the
 * client as errors (RFC 6749 §4.1.2.1).
 *
 * @throws Refusal `realm-not-found`
 */
export const authorize: BrowserEndpoint = (ctx, request) =>
  withBrowserCall(ctx, request, async (call) => {
    const event = startLoginEvent(call);
    const sent = readParameters(request);
    // Links to a verified client, for the pages about its faulty requests.
    let ways: readonly WayOn[] = [];
    const refuse = (key: RuleMessageKey, eventError: string, more: PageOptions = {}) => {
      event.failed(eventError);
      const hints = { uiLocales: sent.values.get('ui_locales') };
      return errorPage(call.configuration, request, key, { hints, ways, ...more });
    };

    // 1. Find the client.
    const clientId = sent.values.get('client_id');
    if (clientId === undefined || sent.doubled.has('client_id'))
      return refuse('invalidRequestMessage', 'invalid_request');
    event.clientId = clientId;
    const client = await ctx.store.findClient(call.configuration.realm.id, clientId);
    if (client === undefined) return refuse('clientNotFoundMessage', 'client_not_found');
    const fault = findClientFault(client);
    if (fault !== undefined) return refuse(fault.key, fault.event, fault.more);

    ways = waysToClient(call, client);

    // 2. Read the parameters, including those of a request object.
    const object = readRequestObject(call, client, sent);
    if (object?.outcome === 'refused') {
      event.details['reason'] = object.reason;
      return refuse('invalidRequestMessage', 'invalid_request');
    }
    const parameters = object === undefined ? sent : withRequestObject(sent, object.claims);
    if (parameters.tooLong !== undefined)
      return refuse('invalidParameterMessage', 'invalid_request', { values: { name: parameters.tooLong } });
    if (!/^\d{1,15}$/.test(parameters.values.get('max_age') ?? '0'))
      return refuse('invalidRequestMessage', 'invalid_request');

    // 3. Check the redirect URI.
    const named = parameters.values.get('redirect_uri');
    if (named !== undefined) event.details['redirect_uri'] = named;
    const target = sent.doubled.has('redirect_uri')
      ? undefined
      : findRedirectTarget(client, named, { baseUrl: ctx.baseUrl, openid: isOpenId(parameters) });
    if (target === undefined)
      return refuse('invalidParameterMessage', 'invalid_redirect_uri', { values: { name: 'redirect_uri' } });

    // 4. From here on, errors go to the client.
    return answerRequest(call, client, parameters, target, event);
  });

type PageOptions = { name?: PageAnswerName; values?: Readonly<Record<string, string>> };

/**
 * Returns the reason why users cannot log in to a client, if there is one
 * (docs/keycloak/login.md#errors-shown-as-a-page).
 */
function findClientFault(
  client: Client,
): { key: RuleMessageKey; event: string; more?: PageOptions } | undefined {
  if (!client.enabled) return { key: 'clientDisabledMessage', event: 'client_disabled' };
  if (client.bearerOnly)
    return { key: 'bearerOnlyMessage', event: 'not_allowed', more: { name: 'bearer-only-client' } };
  if (client.protocol !== 'openid-connect')
    return { key: 'wrongClientProtocolMessage', event: 'invalid_client' };
  return undefined;
}

/**
 * Maximum size of a stored request in bytes. Anyone can send a request, and the service stores it until the login ends.
 */
const MOST_KEPT = 8192;

async function answerRequest(
  call: BrowserCall,
  client: Client,
  parameters: Parameters,
  target: RedirectTarget,
  event: EventDraft,
): Promise<BrowserAnswer> {
  const facts = readFacts(call.configuration, client, parameters);
  const state = parameters.values.get('state');
  const to: ReplyTo = {
    redirectUri: target.uri,
    responseMode: facts.mode,
    ...(state === undefined ? {} : { state }),
  };
  const found = findClientError(facts);
  if (found !== undefined) {
    event.details['reason'] = found.error.description ?? found.rule;
    event.failed(found.eventError);
    return refuseToClient(call, client, to, found.error);
  }
  if (parameters.values.get('prompt')?.split(' ').includes('create')) {
    event.failed('registration_disabled');
    return loginErrorPage(call, client, 'registrationNotAllowedMessage');
  }
  const hint = parameters.values.get('id_token_hint');
  const hinted = hint === undefined ? undefined : readIdTokenHint(call, hint);
  if (hint !== undefined && hinted === undefined) {
    event.failed('invalid_token');
    const description = 'Invalid parameter: id_token_hint';
    return refuseToClient(call, client, to, { error: 'invalid_request', description });
  }
  try {
    checkEnforceable(call.configuration, client, 'browser');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    event.refused(error);
    return loginErrorPage(call, client, 'loginRefusedMessage');
  }
  const request = buildRequest(facts, to, target, hinted?.userId);
  if (Buffer.byteLength(JSON.stringify(request)) > MOST_KEPT) {
    event.details['reason'] = `the request is too large to store: more than ${MOST_KEPT} bytes`;
    event.failed('invalid_request');
    return loginErrorPage(call, client, 'invalidRequestMessage');
  }
  return beginLogin(call, client, request);
}

const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

/**
 * Builds the stored request with every value that later steps use. Unknown prompts are ignored
 * (docs/keycloak/login.md#prompt-and-max_age).
 */
function buildRequest(
  { type, parameters }: RequestFacts,
  to: ReplyTo,
  target: RedirectTarget,
  hintedUserId: string | undefined,
): AuthorizationRequest {
  const { values } = parameters;
  const prompts = values.get('prompt')?.split(' ') ?? [];
  const method = values.get('code_challenge_method');
  const request: AuthorizationRequest = {
    ...to,
    redirectUriSent: target.sent,
    responseType: type!.name,
    prompt: PROMPTS.filter((prompt) => prompts.includes(prompt)),
  };
  const set = <K extends keyof AuthorizationRequest>(name: K, value: AuthorizationRequest[K] | undefined) => {
    if (value !== undefined) request[name] = value;
  };
  set('scope', values.get('scope'));
  set('nonce', values.get('nonce'));
  if (values.has('code_challenge')) {
    set('codeChallenge', values.get('code_challenge'));
    set('codeChallengeMethod', method === 'S256' ? 'S256' : 'plain');
  }
  set('maxAge', values.has('max_age') ? Number(values.get('max_age')) : undefined);
  set('loginHint', values.get('login_hint')?.slice(0, 255));
  set('hintedUserId', hintedUserId);
  set('uiLocales', values.get('ui_locales')?.slice(0, 255));
  set('acrValues', values.get('acr_values')?.slice(0, 255));
  set('claims', values.get('claims'));
  return request;
}
