import type { AuthorizationRequest, Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { resolveScopes } from '../claims/index.ts';
import type { ClientError } from './client-answer.ts';
import type { Parameters } from './parameters.ts';
import {
  defaultResponseMode,
  givesTokens,
  parseResponseMode,
  parseResponseType,
  type ResponseType,
} from './response-type.ts';

/** What the checks look at, once it is known where the client may be answered. */
export interface RequestFacts {
  configuration: RealmConfiguration;
  client: Client;
  parameters: Parameters;
  /** Undefined: missing, or one that does not exist. */
  type: ResponseType | undefined;
  /** Where an error goes. */
  mode: AuthorizationRequest['responseMode'];
}

/** One thing that a request must be; what stands in its way is told to the client (RFC 6749 §4.1.2.1). */
interface Check {
  /** The rule, in the present tense. */
  rule: string;
  refuse(facts: RequestFacts): (ClientError & { eventError?: string }) | undefined;
}

/** Keycloak 26's checks in its order (facts §5.10, observed authorization-endpoint). The first that fails counts. */
const CHECKS: readonly Check[] = [
  {
    rule: 'names a response type',
    refuse: ({ parameters }) =>
      parameters.values.has('response_type') ? undefined : invalid('Missing parameter: response_type'),
  },
  {
    rule: 'names a response type that there is',
    refuse: ({ type }) => (type === undefined ? { error: 'unsupported_response_type' } : undefined),
  },
  {
    rule: 'names a response mode that there is',
    refuse: ({ parameters }) => {
      const mode = parameters.values.get('response_mode');
      if (mode === undefined || parseResponseMode(mode) !== undefined) return undefined;
      return invalid('Invalid parameter: response_mode');
    },
  },
  {
    rule: 'keeps tokens out of the query',
    refuse: ({ type, parameters }) =>
      type !== undefined && givesTokens(type) && parameters.values.get('response_mode') === 'query'
        ? invalid("Response_mode 'query' not allowed for implicit or hybrid flow")
        : undefined,
  },
  {
    rule: 'asks for what a flow gives that the client has on',
    refuse: ({ type, client }) => (type === undefined ? undefined : findFlowError(type, client)),
  },
  {
    rule: 'comes as a pushed request where the client must push it',
    refuse: ({ client }) =>
      client.attributes['require.pushed.authorization.requests'] === 'true'
        ? invalid('Pushed Authorization Request is only allowed.')
        : undefined,
  },
  {
    rule: 'gives each parameter once',
    refuse: ({ parameters }) => (parameters.doubled.size > 0 ? invalid('duplicated parameter') : undefined),
  },
  {
    rule: 'asks for scopes that the client has',
    refuse: ({ configuration, client, parameters }) => {
      const scopes = resolveScopes(configuration, client, parameters.values.get('scope'));
      if (scopes.outcome === 'granted') return undefined;
      return { error: 'invalid_scope', description: `Invalid scopes: ${printable(scopes.names)}` };
    },
  },
  {
    rule: 'brings a nonce where tokens come through the browser',
    refuse: ({ type, parameters }) =>
      type !== undefined &&
      givesTokens(type) &&
      (isOpenId(parameters) || type.name !== 'token') &&
      !parameters.values.has('nonce')
        ? invalid('Missing parameter: nonce')
        : undefined,
  },
  { rule: 'brings a code challenge where the client must, and a whole one', refuse: refuseChallenge },
  {
    rule: 'brings claims as a JSON object',
    refuse: ({ parameters }) => {
      const claims = parameters.values.get('claims');
      return claims === undefined || isJsonObject(claims) ? undefined : invalid('Invalid parameter: claims');
    },
  },
  {
    rule: 'demands no level of login that none here reaches',
    refuse: ({ configuration, client, parameters }) =>
      reachesLevel(configuration, client, parameters.values.get('claims'))
        ? undefined
        : { error: 'unmet_authentication_requirements' },
  },
];

/** The first thing that the client is to be told, or nothing. */
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

/** What the client is told where the flow of a response type is off for it; it may be turned off during a login. */
export function findFlowError(type: ResponseType, client: Client): ClientError | undefined {
  if ((type.code || type.name === 'none') && !client.standardFlowEnabled) return flowOff('Standard');
  return givesTokens(type) && !client.implicitFlowEnabled ? flowOff('Implicit') : undefined;
}

/** The facts of a request; where its type or mode cannot be read, errors go into the query. */
export function readFacts(
  configuration: RealmConfiguration,
  client: Client,
  parameters: Parameters,
): RequestFacts {
  const type = parseResponseType(parameters.values.get('response_type') ?? '');
  const usual = defaultResponseMode(type);
  const named = parameters.values.get('response_mode');
  if (named === undefined) return { configuration, client, parameters, type, mode: usual };
  const mode = parseResponseMode(named) ?? 'query';
  // Answers to a request for tokens never go into a query, not even the refusal of that wish.
  const kept = mode === 'query' && parseResponseMode(named) !== undefined ? usual : mode;
  return { configuration, client, parameters, type, mode: kept };
}

/** `openid` is asked for. */
export function isOpenId({ values }: Parameters): boolean {
  return (values.get('scope') ?? '').split(' ').includes('openid');
}

/** PKCE (RFC 7636 §4.4.1), demanded where the client's `pkce.code.challenge.method` is set. */
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

/** `error_description` holds visible ASCII only (RFC 6749 §4.1.2.1). */
function printable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 500);
}

function isJsonObject(text: string): boolean {
  return parseObject(text) !== undefined;
}

/** The level of a login with a password or with a second factor (facts §6.1). */
const LEVEL = 1;

/**
 * An `acr` that is essential is one of the values that are named (OpenID Connect Core §5.5.1.1): levels as numbers, or
 * by their names in `acr.loa.map` of client or realm.
 */
function reachesLevel({ realm }: RealmConfiguration, client: Client, claims: string | undefined): boolean {
  const acr = asObject(asObject(parseObject(claims ?? '{}')?.['id_token'])['acr']);
  const values = [acr['value'] ?? acr['values'] ?? []].flat();
  if (acr['essential'] !== true || values.length === 0) return true;
  const names = {
    ...parseObject(realm.settings.attributes['acr.loa.map'] ?? '{}'),
    ...parseObject(client.attributes['acr.loa.map'] ?? '{}'),
  };
  return values.some((value) => {
    // An object is no level, and may not even be text.
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const level = Object.hasOwn(names, value) ? names[value] : value;
    return level !== '' && Number(level) <= LEVEL;
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
