import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeJsonObject, IdkitError, jsonFields, parseJsonObject } from '../../core/index.ts';
import { callService, readJson, type ServiceResponse } from '../admin/call-service.ts';
import { parseTokens, serviceText } from '../admin/login.ts';
import type { PersonLogin } from './browser-login.ts';
import { type LoginRealm, type LoginService, limitsOf } from './login-service.ts';

/** Options of a login by device code. */
export interface DeviceLogin extends LoginRealm {
  /** Scopes to request in addition to `openid`. */
  scope?: string;
  /** Shows the person where to confirm the login. */
  show(confirmation: { address: string; completeAddress: string | undefined; code: string }): void;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Seconds between two requests, and the seconds that `slow_down` adds (RFC 8628 §3.2, §3.5). */
const INTERVAL_SECONDS = 5;
/** Longest wait for a person in seconds. */
const LONGEST_SECONDS = 86_400;

/**
 * Logs in a person who confirms a code in a browser on any machine (RFC 8628). The promise resolves when the person has
 * confirmed.
 *
 * @throws IDKIT_CREDENTIALS if the client may not use device codes, if the person declines or if the code expires;
 *   IDKIT_FAILED if the service has no device codes; IDKIT_UNREACHABLE; the reason of `signal`
 */
export async function logInByDevice(service: LoginService, options: DeviceLogin): Promise<PersonLogin> {
  const { baseUrl, clientId, realm, scope, signal } = options;
  if (service.deviceEndpoint === undefined)
    throw new IdkitError('IDKIT_FAILED', `realm ${realm} at ${baseUrl} has no login by device code`, {
      hints: ['log in by browser or with --password'],
    });
  // Keycloak 26 demands PKCE here too if the client requires it.
  const verifier = randomBytes(32).toString('base64url');
  const started = await post(options, service.deviceEndpoint, {
    client_id: clientId,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: `openid ${scope ?? ''}`.trim(),
  });
  if (started.status !== 200) throw refused(started, options);
  const device = jsonFields(readJson(started));
  const code = String(device['device_code']);
  const seconds = (name: string, otherwise: number): number => {
    const value = device[name];
    return typeof value === 'number' && value > 0 ? value : otherwise;
  };
  const complete = device['verification_uri_complete'];
  options.show({
    address: String(device['verification_uri']),
    completeAddress: typeof complete === 'string' ? complete : undefined,
    code: String(device['user_code']),
  });
  const end = Date.now() + Math.min(seconds('expires_in', 600), LONGEST_SECONDS) * 1000;
  let interval = seconds('interval', INTERVAL_SECONDS);
  while (Date.now() < end) {
    // A longer pause than the code is valid for would only delay the error.
    await pause(
      Math.min(interval * 1000, end - Date.now()),
      undefined,
      signal === undefined ? {} : { signal },
    ).catch((error) => {
      throw signal?.aborted ? signal.reason : error;
    });
    const requestedAt = Date.now();
    const form = {
      client_id: clientId,
      grant_type: GRANT,
      device_code: code,
      code_verifier: verifier,
    };
    const response = await post(options, service.tokenEndpoint, form).catch(unlessUnreachable);
    // A request without a response is repeated later and less often (RFC 8628 §3.5).
    if (response === undefined || response.status === 429 || response.status >= 500) {
      interval *= 2;
      continue;
    }
    if (response.status === 200)
      return { login: parseTokens(response, requestedAt), username: userOf(response) };
    const error = parseJsonObject(response.text)?.['error'];
    if (error === 'slow_down') interval += INTERVAL_SECONDS;
    else if (error !== 'authorization_pending') throw refused(response, options);
  }
  throw new IdkitError('IDKIT_CREDENTIALS', 'the code expired before the login was confirmed');
}

function unlessUnreachable(error: unknown): undefined {
  if (error instanceof IdkitError && error.code === 'IDKIT_UNREACHABLE') return undefined;
  throw error;
}

function post(
  options: DeviceLogin,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<ServiceResponse> {
  return callService({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
    ...limitsOf(options),
  });
}

/** Returns the user of the ID token, which came directly from the service (OpenID Connect Core §3.1.3.7). */
function userOf(response: ServiceResponse): string {
  const { id_token: token } = jsonFields(readJson(response));
  const claims = decodeJsonObject(String(token).split('.')[1] ?? '') ?? {};
  return String(claims['preferred_username'] ?? claims['email'] ?? claims['sub']);
}

function refused(response: ServiceResponse, { baseUrl, clientId, realm }: DeviceLogin): IdkitError {
  const text = serviceText(response);
  if (response.status === 429 || response.status >= 500)
    return new IdkitError('IDKIT_UNREACHABLE', `${response.url} returned status ${response.status}: ${text}`);
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the service refused the login by device code of the client ${clientId} in realm ${realm} at ${baseUrl}: ${text}`,
  );
}
