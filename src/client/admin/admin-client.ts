import { IdkitError, isJsonObject, type Secret } from '../../core/index.ts';
import { callService, pathSegment, readJson, type ServiceResponse } from './call-service.ts';
import type { AdminConnection } from './login.ts';
import { openLogin } from './login.ts';
import { describeRefusal } from './refusal-text.ts';

/** A realm in a response of `GET /admin/realms` or `GET /admin/realms/{realm}`. */
export interface RealmRecord {
  realm: string;
  enabled?: boolean;
  [field: string]: unknown;
}

/** A request to the administrative API. */
export interface AdminRequest {
  method: string;
  /** The path from `/admin/` on, with its query. Its segments must be encoded. */
  path: string;
  /** Further headers. They cannot replace the access token. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Timeout in milliseconds. Default: that of the connection. */
  timeoutMilliseconds?: number | undefined;
}

/**
 * Calls the administrative API with one login, which the client renews.
 *
 * @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_NOT_FOUND, IDKIT_FAILED
 */
export interface AdminClient {
  /** Returns an access token that is valid for at least 30 s. */
  accessToken(): Promise<Secret>;
  listRealms(): Promise<readonly RealmRecord[]>;
  getRealm(realm: string): Promise<RealmRecord>;
  countUsers(realm: string): Promise<number>;
  /**
   * Sends a request below `/admin/realms`. `body` of the result is parsed JSON, or undefined for an empty body.
   *
   * @param path empty, or with a leading slash; its segments must be encoded
   */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; location?: string; body: unknown }>;
  /**
   * Sends a request to any path of the administrative API and returns the response, whatever its status is.
   *
   * @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS; IDKIT_USAGE if the path leaves the administrative API
   */
  request(request: AdminRequest): Promise<ServiceResponse>;
  /** Ends the session at the service and deletes the token file. */
  logout(): Promise<void>;
}

/**
 * Logs in with the password grant, or resumes the login in `tokenFile`. The promise resolves when an access token is
 * available.
 *
 * @throws IDKIT_UNREACHABLE with the address; IDKIT_CREDENTIALS; IDKIT_NOT_FOUND for an unknown administrative realm;
 * IDKIT_FAILED if the response is not that of a token service
 */
export async function connectAdmin(connection: AdminConnection): Promise<AdminClient> {
  const login = openLogin(connection);
  await login.accessToken();

  const send = async ({
    method,
    path,
    headers,
    body,
    timeoutMilliseconds,
  }: AdminRequest): Promise<ServiceResponse> => {
    const url = addressOf(connection, path);
    const token = await login.accessToken();
    return callService({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        authorization: `Bearer ${token.reveal()}`,
      },
      ...(body === undefined ? {} : { body }),
      ...limits(connection),
      ...(timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds }),
    });
  };

  const request: AdminClient['request'] = async (wanted) => {
    const response = await send(wanted);
    if (response.status !== 401) return response;
    // The session may have ended before its token expired. The client then logs in again, but only once.
    login.markRejected();
    return send(wanted);
  };

  const call: AdminClient['call'] = async (method, path, body) => {
    const response = await request({
      method,
      path: `/admin/realms${path}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status >= 300) throw refused(response, method, path, connection);
    return {
      status: response.status,
      ...(response.location === undefined ? {} : { location: response.location }),
      body: readJson(response),
    };
  };

  return {
    accessToken: () => login.accessToken(),
    call,
    request,
    async listRealms() {
      const { body } = await call('GET', '');
      if (!Array.isArray(body) || !body.every(isRealmRecord))
        throw unexpected(connection, '/admin/realms', 'a list of realms');
      return body;
    },
    async getRealm(realm) {
      const { body } = await call('GET', `/${pathSegment(realm)}`);
      if (!isRealmRecord(body)) {
        throw unexpected(connection, `/admin/realms/${realm}`, 'a realm');
      }
      return body;
    },
    async countUsers(realm) {
      const path = `/${pathSegment(realm)}/users/count`;
      const { body } = await call('GET', path);
      if (typeof body !== 'number') throw unexpected(connection, `/admin/realms${path}`, 'a number');
      return body;
    },
    logout: () => login.logout(),
  };
}

/**
 * Returns the address of a path below `/admin/`. Resolves the path as `fetch` does, so that dot segments cannot send
 * the token to another part of the site.
 */
function addressOf({ baseUrl }: AdminConnection, path: string): string {
  const url = URL.parse(`${baseUrl}${path}`);
  if (url?.href.startsWith(`${new URL(baseUrl).href.replace(/\/$/, '')}/admin/`)) return url.href;
  throw new IdkitError('IDKIT_USAGE', `${path} is not a path of the administrative API`);
}

function isRealmRecord(value: unknown): value is RealmRecord {
  return isJsonObject(value) && typeof value['realm'] === 'string';
}

function limits(connection: AdminConnection): { signal?: AbortSignal; timeoutMilliseconds?: number } {
  return {
    ...(connection.signal === undefined ? {} : { signal: connection.signal }),
    ...(connection.timeoutMilliseconds === undefined
      ? {}
      : { timeoutMilliseconds: connection.timeoutMilliseconds }),
  };
}

/** Converts an error response into an IdkitError with the text of the service. */
function refused(
  response: ServiceResponse,
  method: string,
  path: string,
  connection: AdminConnection,
): IdkitError {
  const endpoint = `${method} ${connection.baseUrl}/admin/realms${path}`;
  const text = describeRefusal(response.text);
  switch (response.status) {
    case 401:
      return new IdkitError('IDKIT_CREDENTIALS', `${endpoint} rejected the login of ${connection.username}`, {
        hints: connection.renewHint === undefined ? [] : [connection.renewHint],
      });
    case 403:
      return new IdkitError(
        'IDKIT_CREDENTIALS',
        `${connection.username} is not allowed to call ${endpoint} (403 ${text})`,
        {
          hints: [
            'grant the user a role of the client realm-management, or a role of the client REALM-realm in the master realm',
          ],
        },
      );
    case 404:
      return new IdkitError('IDKIT_NOT_FOUND', `${text} (${endpoint} returned 404)`);
    case 503:
      return new IdkitError('IDKIT_UNREACHABLE', `${text} (${endpoint} returned 503)`, {
        hints: ['run the command again when the service has less work'],
      });
    default:
      return new IdkitError('IDKIT_FAILED', `${text} (${endpoint} returned ${response.status})`);
  }
}

function unexpected(connection: AdminConnection, path: string, expected: string): IdkitError {
  return new IdkitError(
    'IDKIT_FAILED',
    `${connection.baseUrl}${path} returned a response that is not ${expected}`,
  );
}
