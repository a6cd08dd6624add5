import { isJsonObject, parseJsonObject } from '../../core/index.ts';
import type { Client } from '../../model/index.ts';
import { resolveScopes } from '../../protocol/claims/index.ts';

import type { RealmConfiguration } from '../../store/index.ts';
import type { ClientError } from './client-answer.ts';
import type { RequestFacts } from './request-facts.ts';
import { givesTokens, parseResponseMode, type ResponseType } from './response-type.ts';

/** One rule for a request. The client receives an error if the request violates it (RFC 6749 §4.1.2.1). */
interface Check {
  /** The rule as a sentence with "must". If the error has no description, the event records the rule as its reason. */
  rule: string;
  refuse(facts: RequestFacts): (ClientError & { eventError?: string }) | undefined;
}

/**
 * Keycloak 26's checks in its order (docs/keycloak/login.md#errors-sent-to-the-client). The first check that fails
 * determines the error.
 */
const CHECKS: readonly Check[] = [
  {
    rule: 'the request must name a response type',
    refuse: ({ parameters }) =>
      parameters.values.has('response_type') ? undefined : invalid('Missing parameter: response_type'),
  },
  {
    rule: 'the response type must exist',
    refuse: ({ type }) => (type === undefined ? { error: 'unsupported_response_type' } : undefined),
  },
  {
    rule: 'the response mode must exist',
    refuse: ({ parameters }) => {
      const mode = parameters.values.get('response_mode');
      if (mode === undefined || parseResponseMode(mode) !== undefined) return undefined;
      return invalid('Invalid parameter: response_mode');
    },
  },
  {
    rule: 'tokens must not be returned in the query',
    refuse: ({ type, parameters }) =>
      type !== undefined && givesTokens(type) && parameters.values.get('response_mode') === 'query'
        ? invalid("Response_mode 'query' not allowed for implicit or hybrid flow")
        : undefined,
  },
  {
    rule: 'the flow of the response type must be enabled for the client',
    refuse: ({ type, client }) => (type === undefined ? undefined : findFlowError(type, client)),
  },
  {
    rule: 'the client must push its authorization requests, which idkit does not support',
    refuse: ({ client }) =>
      client.attributes['require.pushed.authorization.requests'] === 'true'
        ? invalid('Pushed Authorization Request is only allowed.')
        : undefined,
  },
  {
    rule: 'a parameter must not be repeated',
    refuse: ({ parameters }) => (parameters.doubled.size > 0 ? invalid('duplicated parameter') : undefined),
  },
  {
    rule: 'the client must have the requested scopes',
    refuse: ({ configuration, client, parameters }) => {
      const scopes = resolveScopes(configuration, client, parameters.values.get('scope'));
      if (scopes.outcome === 'granted') return undefined;
      return { error: 'invalid_scope', description: `Invalid scopes: ${printable(scopes.names)}` };
    },
  },
  {
    rule: 'a request for an ID token through the browser must have a nonce',
    refuse: ({ type, parameters }) =>
      type?.idToken === true && !parameters.values.has('nonce')
        ? invalid('Missing parameter: nonce')
        : undefined,
  },
  {
    rule: 'the code challenge must be valid, and present if the client requires it',
    refuse: refuseChallenge,
  },
  {
    rule: 'the claims must be a JSON object',
    refuse: ({ parameters }) => {
      const claims = parameters.values.get('claims');
      return claims === undefined || parseJsonObject(claims) !== undefined
        ? undefined
        : invalid('Invalid parameter: claims');
    },
  },
  {
    rule: 'a login must be able to reach the requested level',
    refuse: ({ configuration, client, parameters }) =>
      reachesLevel(configuration, client, parameters.values.get('claims'))
        ? undefined
        : { error: 'unmet_authentication_requirements' },
  },
];

/** Returns the error of the first check that fails, or undefined if the request passes all of them. */
export function findClientError(
  facts: RequestFacts,
): { error: ClientError; eventError: string; rule: string } | undefined {
  for (const { rule, refuse } of CHECKS) {
    const found = refuse(facts);
    if (found === undefined) continue;
    const {
      eventError = found.error === 'unauthorized_client' ? 'not_allowed' : 'invalid_request',
      ...error
    } = found;
    return { error, eventError, rule };
  }
  return undefined;
}

/**
 * Returns the error for a response type whose flow is disabled for the client. An administrator may disable the flow
 * during a login.
 */
export function findFlowError(type: ResponseType, client: Client): ClientError | undefined {
  if ((type.code || type.name === 'none') && !client.standardFlowEnabled) return flowOff('Standard');
  return givesTokens(type) && !client.implicitFlowEnabled ? flowOff('Implicit') : undefined;
}

/**
 * Returns the error for a missing or invalid PKCE challenge (RFC 7636 §4.4.1). The client's
 * `pkce.code.challenge.method` can require a challenge.
 */
function refuseChallenge({ type, client, parameters }: RequestFacts): ClientError | undefined {
  if (!type?.code) return undefined;
  const challenge = parameters.values.get('code_challenge');
  const method = parameters.values.get('code_challenge_method');
  const demanded = client.attributes['pkce.code.challenge.method'];
  if (demanded) {
    if (method === undefined) return invalid('Missing parameter: code_challenge_method');
    if (method !== demanded)
      return invalid('Invalid parameter: code challenge method is not matching the configured one');
  }
  if (challenge === undefined)
    return demanded || method !== undefined ? invalid('Missing parameter: code_challenge') : undefined;
  if (method !== undefined && method !== 'S256' && method !== 'plain')
    return invalid('Invalid parameter: code_challenge_method');
  return /^[A-Za-z0-9\-._~]{43,128}$/.test(challenge)
    ? undefined
    : invalid('Invalid parameter: code_challenge');
}

function invalid(description: string): ClientError {
  return { error: 'invalid_request', description };
}

function flowOff(name: 'Standard' | 'Implicit'): ClientError {
  const description = `Client is not allowed to initiate browser login with given response_type. ${name} flow is disabled for the client.`;
  return { error: 'unauthorized_client', description };
}

/** Replaces the characters that `error_description` must not contain (RFC 6749 §4.1.2.1), and truncates the text. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 500);
}

/**
 * The `acr` level of a login with a password, with or without a second factor (docs/keycloak/tokens.md#access-token).
 */
const LEVEL = 1;

/**
 * Whether a login can reach at least one value of an essential `acr` (OpenID Connect Core §5.5.1.1). True if the
 * request has no essential `acr`. A value is the number of a level, or its name in the `acr.loa.map` of the client or
 * realm.
 */
function reachesLevel({ realm }: RealmConfiguration, client: Client, claims: string | undefined): boolean {
  const acr = asObject(asObject(parseJsonObject(claims ?? '{}')?.['id_token'])['acr']);
  const values = [acr['value'] ?? acr['values'] ?? []].flat();
  if (acr['essential'] !== true || values.length === 0) return true;
  const names = {
    ...parseJsonObject(realm.settings.attributes['acr.loa.map'] ?? '{}'),
    ...parseJsonObject(client.attributes['acr.loa.map'] ?? '{}'),
  };
  return values.some((value) => {
    if (!isLevel(value)) return false;
    const level = Object.hasOwn(names, value) ? names[value] : value;
    return isLevel(level) && level !== '' && Number(level) <= LEVEL;
  });
}

/** Whether a value can be a level. An object cannot, and converting it to text could throw an error. */
function isLevel(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
