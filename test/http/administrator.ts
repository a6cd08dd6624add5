import { form, login, tokenUrl } from './service.ts';

/** A response of the administrative API. If the body is not JSON, `json` is its text. */
export interface AdminAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes, and each test checks its own
  json: any;
  headers: Headers;
}

/** A function that calls paths below `/admin/realms` with one token. */
export type AdminApi = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<AdminAnswer>;

/** Returns a function that calls the administrative API with a token. It sends a body of text or bytes unchanged. */
export function adminApi(service: { address: string }, token: string): AdminApi {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await fetch(`${service.address}/admin/realms${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw as string }),
      redirect: 'manual',
    });
    const text = await answer.text();
    let json: unknown = text;
    try {
      json = JSON.parse(text);
    } catch {
      // The body is not JSON, so keep it as text.
    }
    return { status: answer.status, json, headers: answer.headers };
  };
}

/** Returns a function that calls the administrative API as the administrator of the master realm. */
export async function administrator(service: { address: string }): Promise<AdminApi> {
  return adminApi(service, (await login(service))['access_token']!);
}

/** Requests tokens for a user of a realm with the password grant. */
export async function loginAs(
  service: { address: string },
  realm: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ status: number; body: Record<string, string> }> {
  const answer = await fetch(
    tokenUrl(service, realm),
    form({ grant_type: 'password', client_id: 'admin-cli', ...fields }),
  );
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

/** A user of a realm file with the given administrative roles of its realm. The password is `pw`. */
export function helper(username: string, ...roles: readonly string[]): Record<string, unknown> {
  return {
    username,
    enabled: true,
    email: `${username}@example.test`,
    firstName: 'A',
    lastName: 'B',
    credentials: [{ type: 'password', value: 'pw' }],
    ...(roles.length === 0 ? {} : { clientRoles: { 'realm-management': roles } }),
  };
}
