import { IdkitError, Secret } from '../../core/index.ts';
import { callService, pathSegment, readJson, type ServiceAnswer } from './call-service.ts';
import { type KeptLogin, openTokenFile } from './token-file.ts';

/** The login of one administrator. */
export interface Login {
  /** Returns an access token that is valid for at least 30 s. Parallel callers share one renewal. */
  accessToken(): Promise<Secret>;
  /** Discards the current access token after the service rejected it. The next call renews it. */
  forget(): void;
  /** Ends the session at the service and deletes the stored login. */
  logout(): Promise<void>;
}

const RENEW_BEFORE_MILLISECONDS = 30_000;

/** Opens a login that logs in on first use: from the file, with the refresh token, or with the password. */
export function openLogin(connection: AdminConnection): Login {
  const realm = connection.realm ?? 'master';
  const clientId = connection.clientId ?? 'admin-cli';
  const owner = [connection.baseUrl, realm, clientId, connection.username].join(' ');
  const file = openTokenFile(connection.tokenFile, owner);
  let current: KeptLogin | undefined;
  let refusedToken: string | undefined;
  let renewal: Promise<KeptLogin> | undefined;

  const usable = (login: KeptLogin | undefined): login is KeptLogin =>
    login !== undefined &&
    login.accessToken !== refusedToken &&
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
    const asked = Date.now();
    const answer = await post('token', {
      grant_type: 'password',
      username: connection.username,
      password: connection.password.reveal(),
    });
    if (answer.status !== 200) throw refusedLogin(answer, connection, realm);
    return parseTokens(answer, asked);
  };

  const refresh = async (kept: KeptLogin | undefined): Promise<KeptLogin | undefined> => {
    if (kept?.refreshToken === undefined || (kept.refreshExpiresAt ?? Infinity) <= Date.now())
      return undefined;
    const asked = Date.now();
    const answer = await post('token', { grant_type: 'refresh_token', refresh_token: kept.refreshToken });
    return answer.status === 200 ? parseTokens(answer, asked) : undefined;
  };

  const post = (endpoint: 'token' | 'logout', form: Record<string, string>): Promise<ServiceAnswer> =>
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
    forget() {
      refusedToken = current?.accessToken;
    },
    async logout() {
      const kept = current ?? file.read();
      current = undefined;
      file.remove();
      if (kept?.refreshToken !== undefined) await post('logout', { refresh_token: kept.refreshToken });
    },
  };
}

function parseTokens(answer: ServiceAnswer, asked: number): KeptLogin {
  const body = (readJson(answer) ?? {}) as Record<string, unknown>;
  const { access_token: access, expires_in: lifetime, refresh_token: refreshToken } = body;
  if (typeof access !== 'string' || typeof lifetime !== 'number') {
    throw new IdkitError('IDKIT_FAILED', `${answer.url} returned 200 without an access token`);
  }
  const refreshLifetime = body['refresh_expires_in'];
  return {
    accessToken: access,
    accessExpiresAt: asked + lifetime * 1000,
    ...(typeof refreshToken === 'string' ? { refreshToken } : {}),
    // 0 means that the refresh token does not expire by itself (offline session).
    ...(typeof refreshLifetime === 'number' && refreshLifetime > 0
      ? { refreshExpiresAt: asked + refreshLifetime * 1000 }
      : {}),
  };
}

function refusedLogin(answer: ServiceAnswer, connection: AdminConnection, realm: string): IdkitError {
  let fields: Record<string, unknown> = {};
  try {
    fields = JSON.parse(answer.text) as Record<string, unknown>;
  } catch {
    return new IdkitError('IDKIT_FAILED', `${answer.url} returned ${answer.status} without JSON`, {
      hints: ['check that this is the address of a token service'],
    });
  }
  const text = String(fields['error_description'] ?? fields['error'] ?? answer.status);
  if (answer.status === 404) {
    return new IdkitError('IDKIT_NOT_FOUND', `${connection.baseUrl} has no realm ${realm}: ${text}`);
  }
  if (answer.status >= 500 || answer.status === 429) {
    return new IdkitError('IDKIT_UNREACHABLE', `${answer.url} returned ${answer.status}: ${text}`);
  }
  return new IdkitError(
    'IDKIT_CREDENTIALS',
    `the login of ${connection.username} in realm ${realm} at ${connection.baseUrl} was rejected: ${text}`,
    { hints: ['check IDKIT_ADMIN_USERNAME and IDKIT_ADMIN_PASSWORD'] },
  );
}

/** The address and the credentials for an administrative API, of idkit or of Keycloak 26. */
export interface AdminConnection {
  /** Without a trailing slash. */
  baseUrl: string;
  /** The realm of the administrator. Default: `master`. */
  realm?: string;
  /** Default: `admin-cli`. */
  clientId?: string;
  username: string;
  password: Secret;
  /** A file (mode 0600) that stores the login between runs. Default: the login stays in memory. */
  tokenFile?: string;
  signal?: AbortSignal;
  /** For one call. Default: 10,000. */
  timeoutMilliseconds?: number;
}
