import { IdkitError, type Secret } from '../../core/index.ts';
import { callService, pathSegment, readJson, type ServiceAnswer } from './call-service.ts';
import type { AdminConnection } from './login.ts';
import { openLogin } from './login.ts';

/** A realm as the service returned it, with unchecked fields. */
export interface RealmRecord {
  realm: string;
  enabled?: boolean;
  [field: string]: unknown;
}

/** Calls the administrative API with one login, and renews it. @throws IDKIT_UNREACHABLE, IDKIT_CREDENTIALS, IDKIT_NOT_FOUND, IDKIT_FAILED */
export interface AdminClient {
  /** Returns the current access token. Renews it 30 s before it expires. */
  accessToken(): Promise<Secret>;
  listRealms(): Promise<readonly RealmRecord[]>;
  getRealm(realm: string): Promise<RealmRecord>;
  countUsers(realm: string): Promise<number>;
  /** @param path below `/admin/realms`, with a leading slash @returns parsed JSON, or undefined for an empty body */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<{ status: number; location?: string; body: unknown }>;
  /** Ends the session and deletes the stored login. */
  logout(): Promise<void>;
}

/**
 * Logs in with the password grant, or resumes the login in `tokenFile`.
 *
 * @throws IDKIT_UNREACHABLE with the address; IDKIT_CREDENTIALS; IDKIT_NOT_FOUND for an unknown administrative realm;
 *   IDKIT_FAILED if the address is not that of a token service
 */
export async function connectAdmin(connection: AdminConnection): Promise<AdminClient> {
  const login = openLogin(connection);
  await login.accessToken();

  const send = async (method: string, path: string, body: unknown): Promise<ServiceAnswer> => {
    const token = await login.accessToken();
    return callService({
      method,
      url: `${connection.baseUrl}/admin/realms${path}`,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...limits(connection),
    });
  };

  const call: AdminClient['call'] = async (method, path, body) => {
    let answer = await send(method, path, body);
    if (answer.status === 401) {
      // The session may have been ended elsewhere before the token expired, so log in again once.
      login.forget();
      answer = await send(method, path, body);
    }
    if (answer.status >= 300) throw refused(answer, method, path, connection);
    return {
      status: answer.status,
      ...(answer.location === undefined ? {} : { location: answer.location }),
      body: readJson(answer),
    };
  };

  return {
    accessToken: () => login.accessToken(),
    call,
    async listRealms() {
      const { body } = await call('GET', '');
      if (!Array.isArray(body)) throw unexpected(connection, '/admin/realms', 'a list of realms');
      return body as RealmRecord[];
    },
    async getRealm(realm) {
      const { body } = await call('GET', `/${pathSegment(realm)}`);
      if (typeof body !== 'object' || body === null || !('realm' in body)) {
        throw unexpected(connection, `/admin/realms/${realm}`, 'a realm');
      }
      return body as RealmRecord;
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

function limits(connection: AdminConnection): { signal?: AbortSignal; timeoutMilliseconds?: number } {
  return {
    ...(connection.signal === undefined ? {} : { signal: connection.signal }),
    ...(connection.timeoutMilliseconds === undefined
      ? {}
      : { timeoutMilliseconds: connection.timeoutMilliseconds }),
  };
}

/** Converts the error shapes of docs/keycloak/errors.md#error-shapes to one error with the message of the service. */
function refused(
  answer: ServiceAnswer,
  method: string,
  path: string,
  connection: AdminConnection,
): IdkitError {
  const where = `${method} ${connection.baseUrl}/admin/realms${path}`;
  const text = describeRefusal(answer);
  switch (answer.status) {
    case 401:
      return new IdkitError('IDKIT_CREDENTIALS', `${where} rejects the login of ${connection.username}`);
    case 403:
      return new IdkitError(
        'IDKIT_CREDENTIALS',
        `${connection.username} has no right to ${where} (403 ${text})`,
        {
          hints: ['grant the user a role of realm-management, or of the client of that realm in master'],
        },
      );
    case 404:
      return new IdkitError('IDKIT_NOT_FOUND', `${where}: ${text}`);
    default:
      return new IdkitError('IDKIT_FAILED', `${where} failed with ${answer.status}: ${text}`);
  }
}

function describeRefusal(answer: ServiceAnswer): string {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return answer.text.slice(0, 200) || 'no text';
  }
  const fields = (body ?? {}) as Record<string, unknown>;
  const text = fields['errorMessage'] ?? fields['error_description'] ?? fields['error'];
  return typeof text === 'string' ? text : answer.text.slice(0, 200);
}

function unexpected(connection: AdminConnection, path: string, expected: string): IdkitError {
  return new IdkitError('IDKIT_FAILED', `the response of ${connection.baseUrl}${path} is not ${expected}`);
}
