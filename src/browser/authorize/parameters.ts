import type { BrowserRequest } from '../contract.ts';

/** The parameters that idkit knows. It ignores all others, even if they are repeated (RFC 6749 §3.1). */
const KNOWN = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'acr_values',
  'claims',
  'request',
  'request_uri',
  'code_challenge',
  'code_challenge_method',
] as const;

export type ParameterName = (typeof KNOWN)[number];

/**
 * Maximum length of a value in characters (Keycloak's `req-params-default-max-size`). Keycloak ignores a longer value.
 * idkit rejects it, because it could be the `code_challenge`. A request object may be longer, because it contains all
 * other parameters.
 */
const MOST_CHARACTERS = 4000;
const MOST_OF_A_REQUEST = 65_536;

/** The parameters of one authorization request. */
export interface Parameters {
  values: ReadonlyMap<ParameterName, string>;
  /** Names of repeated parameters. */
  doubled: ReadonlySet<ParameterName>;
  /** The first parameter whose value is too long. */
  tooLong?: ParameterName;
}

/**
 * Reads the parameters of a request: the query of a GET, the form of a POST (OpenID Connect Core §3.1.2.1). An empty
 * value counts as absent (RFC 6749 §3.1). An empty `scope` is kept. It is invalid, because no client has that scope.
 */
export function readParameters(request: BrowserRequest): Parameters {
  const source = request.method === 'POST' ? request.form : request.query;
  const values = new Map<ParameterName, string>();
  const doubled = new Set<ParameterName>();
  for (const name of KNOWN) {
    const value = source.get(name);
    if (value !== undefined && (value !== '' || name === 'scope')) values.set(name, value);
    if (request.doubled.has(name)) doubled.add(name);
  }
  return withLongest({ values, doubled });
}

/** Adds the claims of a request object, which take precedence (OpenID Connect Core §6.1). */
export function withRequestObject(
  { values, doubled }: Parameters,
  claims: Readonly<Record<string, unknown>>,
): Parameters {
  const merged = new Map(values);
  for (const name of KNOWN) {
    if (name === 'client_id' || name === 'request' || name === 'request_uri') continue;
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (typeof claim === 'string') merged.set(name, claim);
    else if (typeof claim === 'number') merged.set(name, String(claim));
    else if (typeof claim === 'object' && claim !== null) merged.set(name, JSON.stringify(claim));
  }
  return withLongest({ values: merged, doubled });
}

function withLongest(parameters: Parameters): Parameters {
  for (const [name, value] of parameters.values) {
    // `login_hint` only fills in the login form, so it may be longer.
    if (name === 'login_hint') continue;
    const most = name === 'request' || name === 'id_token_hint' ? MOST_OF_A_REQUEST : MOST_CHARACTERS;
    if (value.length > most) return { ...parameters, tooLong: name };
  }
  return parameters;
}
