import { IdkitError, parseJsonObject } from '../../core/index.ts';
import { callService, pathSegment } from '../admin/call-service.ts';

/** The realm of a service to which a person logs in. */
export interface LoginRealm {
  /** The base URL of the service, without a trailing slash. */
  baseUrl: string;
  realm: string;
  clientId: string;
  signal?: AbortSignal;
  /** Timeout of one request in milliseconds. Default: 10,000. */
  timeoutMilliseconds?: number;
}

/** What the discovery document of a realm says about logins (OpenID Connect Discovery 1.0 §3). */
export interface LoginService {
  issuer: string;
  authorizationEndpoint: string | undefined;
  tokenEndpoint: string;
  /** Undefined if the service has no login by device code (RFC 8628 §4). */
  deviceEndpoint: string | undefined;
}

/**
 * Reads the discovery document of a realm.
 *
 * @throws IDKIT_NOT_FOUND for an unknown realm; IDKIT_FAILED if the address is not that of a token service, or if the
 *   service has another public address; IDKIT_UNREACHABLE
 */
export async function discover(login: LoginRealm): Promise<LoginService> {
  const { baseUrl, realm } = login;
  const address = `${baseUrl}/realms/${pathSegment(realm)}`;
  const response = await callService({
    method: 'GET',
    url: `${address}/.well-known/openid-configuration`,
    headers: { accept: 'application/json' },
    ...limitsOf(login),
  });
  const fields = parseJsonObject(response.text);
  if (response.status === 404 && fields !== undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', `the service at ${baseUrl} has no realm ${realm}`, {
      hints: ['pass the realm of the administrators with --realm'],
    });
  if (response.status === 429 || response.status >= 500)
    throw new IdkitError('IDKIT_UNREACHABLE', `${response.url} returned status ${response.status}`);
  const text = (name: string): string | undefined => {
    const value = fields?.[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [issuer, tokenEndpoint] = [text('issuer'), text('token_endpoint')];
  if (response.status !== 200 || issuer === undefined || tokenEndpoint === undefined)
    throw new IdkitError('IDKIT_FAILED', `${baseUrl} is not the address of a token service`, {
      hints: [`${response.url} returned status ${response.status} without a discovery document`],
    });
  // A browser shows the public address, and tokens of one address must not be sent to another.
  if (issuer !== address)
    throw new IdkitError('IDKIT_FAILED', `the service at ${baseUrl} has the public address ${issuer}`, {
      // People copy the command, and the service chooses the address.
      hints: [`log in at that address${/^[\w.:/%~-]+$/.test(issuer) ? `: idkit login ${issuer}` : ''}`],
    });
  const found: LoginService = {
    issuer,
    authorizationEndpoint: text('authorization_endpoint'),
    tokenEndpoint,
    deviceEndpoint: text('device_authorization_endpoint'),
  };
  for (const endpoint of [found.authorizationEndpoint, tokenEndpoint, found.deviceEndpoint]) {
    if (endpoint === undefined || URL.parse(endpoint)?.origin === new URL(baseUrl).origin) continue;
    throw new IdkitError(
      'IDKIT_FAILED',
      `the discovery document of ${issuer} names an endpoint of another site: ${endpoint}`,
      { hints: ['log in with --password, which uses only the address that you pass'] },
    );
  }
  return found;
}

/**
 * Reports whether a client exists and may redirect to an address on this machine. Sends the authorization request that
 * a browser would send, with `prompt=none`, which shows no page (OpenID Connect Core §3.1.2.1).
 */
export async function mayUseBrowser(
  service: LoginService,
  login: LoginRealm,
  redirectUri: string,
): Promise<boolean> {
  if (service.authorizationEndpoint === undefined) return false;
  const url = new URL(service.authorizationEndpoint);
  const parameters = {
    client_id: login.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    prompt: 'none',
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const response = await callService({ method: 'GET', url: url.href, ...limitsOf(login) });
  const location = URL.parse(response.location ?? '');
  return (
    location?.href.startsWith(redirectUri) === true &&
    ['login_required', 'interaction_required', 'consent_required'].includes(
      location.searchParams.get('error') ?? '',
    )
  );
}

export function limitsOf({ signal, timeoutMilliseconds }: LoginRealm): {
  signal?: AbortSignal;
  timeoutMilliseconds?: number;
} {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds }),
  };
}
