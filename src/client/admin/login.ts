import { IdkitError, jsonFields, parseJsonObject, Secret } from '../../core/index.ts';
import { callService, pathSegment, readJson, type ServiceResponse } from './call-service.ts';
import { type KeptLogin, openTokenFile, type TokenFile } from './token-file.ts';

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

/** Opens a login. The first call tries the token in the file, then a refresh, then the password if there is one. */
export function openLogin(connection: AdminConnection): Login {
  const { password } = connection;
  const file = fileOf(connection);
  let current: KeptLogin | undefined;
  let rejectedToken: string | undefined;
  let renewal: Promise<KeptLogin> | undefined;

  const usable = (login: KeptLogin | undefined): login is KeptLogin =>
    login !== undefined &&
    login.accessToken !== rejectedToken &&
    login.accessExpiresAt - RENEW_BEFORE_MILLISECONDS > Date.now();

  const renew = (): Promise<KeptLogin> =>
    exclusively(connection, async () => {
      // Another process may have renewed the login while this one waited for the lock.
      const kept = file.read();
      if (usable(kept)) return kept;
      // Without a login in the file, another process has logged out, and this one must not store the session again.
      const fresh = (await refresh(connection.tokenFile === undefined ? current : kept)) ?? (await logIn());
      file.write(fresh);
      return fresh;
    });

  const logIn = (): Promise<KeptLogin> => {
    if (password === undefined) throw endedSession(connection, 'the session has expired');
    return passwordLogin({ ...connection, password });
  };

  /** Returns undefined if the session has ended and the password can start a new one. */
  const refresh = async (kept: KeptLogin | undefined): Promise<KeptLogin | undefined> => {
    if (kept?.refreshToken === undefined || (kept.refreshExpiresAt ?? Infinity) <= Date.now())
      return undefined;
    if (connection.probeMilliseconds !== undefined) await probe(connection, connection.probeMilliseconds);
    const requestedAt = Date.now();
    // Once sent, a refresh must not be aborted: the service may already have replaced the token, and without its
    // response the session is lost.
    const { signal: _, ...unabortable } = connection;
    const response = await post(unabortable, 'token', {
      grant_type: 'refresh_token',
      refresh_token: kept.refreshToken,
    });
    if (response.status === 200) return parseTokens(response, requestedAt);
    if (password !== undefined) return undefined;
    if (response.status !== 400) throw refusedLogin(response, connection);
    throw endedSession(connection, serviceText(response));
  };

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
      if (kept !== undefined) await endKeptSession(connection, kept);
    },
  };
}

/**
 * Logs in with the password grant, and with `totp` as the second factor.
 *
 * @throws IDKIT_CREDENTIALS; IDKIT_NOT_FOUND for an unknown realm; IDKIT_UNREACHABLE; IDKIT_FAILED
 */
export async function passwordLogin(
  connection: AdminConnection & { password: Secret; totp?: Secret; scope?: string },
): Promise<KeptLogin> {
  const { username, password, totp, scope } = connection;
  const requestedAt = Date.now();
  const response = await post(connection, 'token', {
    grant_type: 'password',
    username,
    password: password.reveal(),
    ...(totp === undefined ? {} : { totp: totp.reveal() }),
    ...(scope === undefined ? {} : { scope }),
  });
  if (response.status !== 200) throw refusedLogin(response, connection);
  return parseTokens(response, requestedAt);
}

/** Returns the login that the token file of the connection contains, or undefined if there is none. */
export function readKeptLogin(connection: AdminConnection): KeptLogin | undefined {
  return fileOf(connection).read();
}

/** Stores a login in the token file of the connection. */
export function keepLogin(connection: AdminConnection, login: KeptLogin): Promise<void> {
  const file = fileOf(connection);
  return exclusively(connection, async () => file.write(login));
}

/**
 * Removes the login from the token file of the connection.
 *
 * @returns the removed login, whose session is still active at the service; undefined if there was none
 */
export function removeKeptLogin(connection: AdminConnection): Promise<KeptLogin | undefined> {
  const file = fileOf(connection);
  return exclusively(connection, async () => {
    const removed = file.read();
    file.remove();
    return removed;
  });
}

/**
 * Ends the session of a login at the service. Does nothing if the session has already ended there.
 *
 * @throws IDKIT_UNREACHABLE, IDKIT_FAILED
 */
export async function endKeptSession(connection: AdminConnection, kept: KeptLogin): Promise<void> {
  if (kept.refreshToken === undefined) return;
  const response = await post(connection, 'logout', { refresh_token: kept.refreshToken });
  // The service responds with 400 if the session has ended.
  if (response.status >= 300 && response.status !== 400) throw refusedLogin(response, connection);
}

function fileOf(connection: AdminConnection): TokenFile {
  const { baseUrl, username } = connection;
  return openTokenFile(
    connection.tokenFile?.path,
    [baseUrl, realmOf(connection), clientOf(connection), username].join(' '),
  );
}

const realmOf = ({ realm = 'master' }: AdminConnection): string => realm;
const clientOf = ({ clientId = 'admin-cli' }: AdminConnection): string => clientId;

/** Runs `work` under the lock of the token file, because a refresh token can be used only once. */
function exclusively<T>({ tokenFile }: AdminConnection, work: () => Promise<T>): Promise<T> {
  return tokenFile === undefined ? work() : tokenFile.lock(work);
}

function post(
  connection: AdminConnection,
  endpoint: 'token' | 'logout',
  form: Record<string, string>,
): Promise<ServiceResponse> {
  const { baseUrl, signal, timeoutMilliseconds } = connection;
  return callService({
    method: 'POST',
    url: `${baseUrl}/realms/${pathSegment(realmOf(connection))}/protocol/openid-connect/${endpoint}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ client_id: clientOf(connection), ...form }).toString(),
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds }),
  });
}

/** Sends a request that changes nothing. @throws IDKIT_UNREACHABLE if the service does not respond in time */
async function probe(connection: AdminConnection, timeoutMilliseconds: number): Promise<void> {
  const { baseUrl, signal } = connection;
  await callService({
    method: 'GET',
    url: `${baseUrl}/realms/${pathSegment(realmOf(connection))}`,
    timeoutMilliseconds,
    ...(signal === undefined ? {} : { signal }),
  });
}

function endedSession(connection: AdminConnection, reason: string): IdkitError {
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the session of ${connection.username} at ${connection.baseUrl} has ended: ${reason}`,
    { hints: connection.renewHint === undefined ? [] : [connection.renewHint] },
  );
}

/** Returns the tokens of a successful response of the token endpoint. @throws IDKIT_FAILED */
export function parseTokens(response: ServiceResponse, requestedAt: number): KeptLogin {
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

/** Returns the error text of a response of the token endpoint. */
export function serviceText(response: ServiceResponse): string {
  const fields = parseJsonObject(response.text) ?? {};
  return String(fields['error_description'] ?? fields['error'] ?? response.status);
}

function refusedLogin(response: ServiceResponse, connection: AdminConnection): IdkitError {
  const realm = realmOf(connection);
  const fields = parseJsonObject(response.text);
  if (fields === undefined) {
    return new IdkitError(
      'IDKIT_FAILED',
      `${response.url} returned status ${response.status} and a body that is not a JSON object`,
      { hints: ['check that this is the address of a token service'] },
    );
  }
  const text = serviceText(response);
  if (response.status === 404) {
    return new IdkitError('IDKIT_NOT_FOUND', `${connection.baseUrl} has no realm ${realm}: ${text}`);
  }
  if (response.status >= 500 || response.status === 429) {
    return new IdkitError('IDKIT_UNREACHABLE', `${response.url} returned status ${response.status}: ${text}`);
  }
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the login of ${connection.username} in realm ${realm} at ${connection.baseUrl} was refused: ${text}`,
    { hints: [connection.renewHint ?? 'check IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD'] },
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
  /** Absent for a session that only the token file contains: a new login then needs the person. */
  password?: Secret;
  /**
   * The file (mode 0600) that stores the login between runs. `lock` runs the renewal under a lock that all processes with
   * this file share. A lock must not end while its holder is alive, however slow: two renewals with one refresh token end
   * the session. Default: the login is in memory only.
   */
  tokenFile?: { path: string; lock<T>(work: () => Promise<T>): Promise<T> };
  /**
   * Timeout in milliseconds of a request that checks that the service responds before a renewal is sent, for a caller
   * that must not wait. The renewal itself keeps its timeout, because an aborted one could lose the new refresh token.
   * Default: no check.
   */
  probeMilliseconds?: number;
  /** What the operator can do if the session has ended, for example a command that starts a new one. */
  renewHint?: string;
  signal?: AbortSignal;
  /** Timeout of one call in milliseconds. Default: 10,000. */
  timeoutMilliseconds?: number;
}
