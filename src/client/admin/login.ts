import { IdkitError, jsonFields, parseJsonObject, Secret } from '../../core/index.ts';
import { callService, pathSegment, readJson, type ServiceResponse } from './call-service.ts';
import { type KeptLogin, openTokenFile } from './token-file.ts';

/** The login of one administrator. It is renewed when its access token is about to expire. */
export interface Login {
  /** Returns an access token that is valid for at least 30 s. Parallel callers share one renewal. */
  accessToken(): Promise<Secret>;
  /** Marks the current token as rejected, so that the next call renews it even if it has not expired. */
  markRejected(): void;
  /** Ends the session at the service and deletes the stored login. */
  logout(): Promise<void>;
}

const RENEW_BEFORE_MILLISECONDS = 30_000;

/** Opens a login. The first call tries the token in the file, then a refresh, then the password. */
export function openLogin(connection: AdminConnection): Login {
  const realm = connection.realm ?? 'master';
  const clientId = connection.clientId ?? 'admin-cli';
  const owner = [connection.baseUrl, realm, clientId, connection.username].join(' ');
  const file = openTokenFile(connection.tokenFile, owner);
  let current: KeptLogin | undefined;
  let rejectedToken: string | undefined;
  let renewal: Promise<KeptLogin> | undefined;

  const usable = (login: KeptLogin | undefined): login is KeptLogin =>
    login !== undefined &&
    login.accessToken !== rejectedToken &&
    login.accessExpiresAt - RENEW_BEFORE_MILLISECONDS > Date.now();

  const renew = (): Promise<KeptLogin> =>
    file.exclusively(connection.signal, async () => {
      // Another process may have renewed the login while this one waited for the lock.
      const kept = file.read();
      if (usable(kept)) return kept;
      const fresh = (await refresh(kept ?? current)) ?? (await logIn());
      file.write(fresh);
      return fresh;
    });

  const logIn = async (): Promise<KeptLogin> => {
    const { username, password } = connection;
    if (password === undefined) {
      throw new IdkitError(
        'IDKIT_CREDENTIALS',
        `there is no stored login of ${username} at ${connection.baseUrl}`,
      );
    }
    const requestedAt = Date.now();
    const response = await post('token', { grant_type: 'password', username, password: password.reveal() });
    if (response.status !== 200) throw refusedLogin(response, connection, realm);
    return parseTokens(response, requestedAt);
  };

  const refresh = async (kept: KeptLogin | undefined): Promise<KeptLogin | undefined> => {
    if (kept?.refreshToken === undefined || (kept.refreshExpiresAt ?? Infinity) <= Date.now())
      return undefined;
    const requestedAt = Date.now();
    const response = await post('token', { grant_type: 'refresh_token', refresh_token: kept.refreshToken });
    return response.status === 200 ? parseTokens(response, requestedAt) : undefined;
  };

  const post = (endpoint: 'token' | 'logout', form: Record<string, string>): Promise<ServiceResponse> =>
    callService({
      method: 'POST',
      url: `${connection.baseUrl}/realms/${pathSegment(realm)}/protocol/openid-connect/${endpoint}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ client_id: clientId, ...form }).toString(),
      ...(connection.signal === undefined ? {} : { signal: connection.signal }),
      ...(connection.timeoutMilliseconds === undefined
        ? {}
        : { timeoutMilliseconds: connection.timeoutMilliseconds }),
    });

  return {
    async accessToken() {
      if (!usable(current)) current = file.read() ?? current;
      if (!usable(current)) {
        renewal ??= renew().finally(() => {
          renewal = undefined;
        });
        current = await renewal;
      }
      return new Secret(current.accessToken);
    },
    markRejected() {
      rejectedToken = current?.accessToken;
    },
    async logout() {
      const kept = current ?? file.read();
      current = undefined;
      file.remove();
      if (kept?.refreshToken !== undefined) await post('logout', { refresh_token: kept.refreshToken });
    },
  };
}

function parseTokens(response: ServiceResponse, requestedAt: number): KeptLogin {
  const body = jsonFields(readJson(response));
  const { access_token: access, expires_in: lifetime, refresh_token: refreshToken } = body;
  if (typeof access !== 'string' || typeof lifetime !== 'number') {
    throw new IdkitError('IDKIT_FAILED', `${response.url} returned status 200 without an access token`);
  }
  const refreshLifetime = body['refresh_expires_in'];
  return {
    accessToken: access,
    accessExpiresAt: requestedAt + lifetime * 1000,
    ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
    // If the refresh token does not expire (offline session), Keycloak 26 sends 0.
    ...(typeof refreshLifetime === 'number' && refreshLifetime > 0
      ? { refreshExpiresAt: requestedAt + refreshLifetime * 1000 }
      : {}),
  };
}

function refusedLogin(response: ServiceResponse, connection: AdminConnection, realm: string): IdkitError {
  const fields = parseJsonObject(response.text);
  if (fields === undefined) {
    return new IdkitError(
      'IDKIT_FAILED',
      `${response.url} returned status ${response.status} and a body that is not a JSON object`,
      { hints: ['check that this is the address of a token service'] },
    );
  }
  const text = String(fields['error_description'] ?? fields['error'] ?? response.status);
  if (response.status === 404) {
    return new IdkitError('IDKIT_NOT_FOUND', `${connection.baseUrl} has no realm ${realm}: ${text}`);
  }
  if (response.status >= 500 || response.status === 429) {
    return new IdkitError('IDKIT_UNREACHABLE', `${response.url} returned status ${response.status}: ${text}`);
  }
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the login of ${connection.username} in realm ${realm} at ${connection.baseUrl} was refused: ${text}`,
    { hints: ['check IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD'] },
  );
}

/** The address of an administrative API, of idkit or of Keycloak 26, and the credentials for it. */
export interface AdminConnection {
  /** The base URL of the service, without a trailing slash. */
  baseUrl: string;
  /** Realm of the administrator. Default: `master`. */
  realm?: string;
  /** Client for the password grant. Default: `admin-cli`. */
  clientId?: string;
  username: string;
  /** Without it, only the login in `tokenFile` is used, and if that has ended, calls throw IDKIT_CREDENTIALS. */
  password?: Secret;
  /**
   * The file (mode 0600) that stores the login between runs. Processes lock the file while they renew the login.
   * Default: the login is in memory only.
   */
  tokenFile?: string;
  signal?: AbortSignal;
  /** Timeout of one call in milliseconds. Default: 10,000. */
  timeoutMilliseconds?: number;
}
