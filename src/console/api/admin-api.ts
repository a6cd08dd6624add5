/** A call of the administrative API that failed. */
export class AdminFault extends Error {
  override readonly name = 'AdminFault';
  /** The HTTP status, or 0 if the service was unreachable. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The administrative API of a service, with Keycloak 26's paths, called as the user who is logged in. */
export interface AdminApi {
  /** @throws AdminFault */
  get<T>(path: string, query?: Query): Promise<T>;
  /**
   * Returns the last segment of `Location`, if the service created a record.
   *
   * @throws AdminFault
   */
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<string | undefined>;
  /** Sends a POST and returns the body of the response. @throws AdminFault */
  ask<T>(path: string, body?: unknown): Promise<T>;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * @param root `{base_url}/admin/realms`; paths are relative to it
 * @param fetch adds the access token
 */
export function openAdminApi(root: string, fetch: typeof globalThis.fetch): AdminApi {
  const call = async (method: string, path: string, query: Query, body: unknown): Promise<Response> => {
    const url = new URL(`${root}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
    }
    const response = await fetch(url, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      // The browser's own message for a failed connection is replaced, because it differs between browsers.
      if (error instanceof TypeError) throw new AdminFault(0, 'The service is unreachable');
      throw new AdminFault(0, error instanceof Error ? error.message : String(error));
    });
    if (!response.ok) throw new AdminFault(response.status, await readMessage(response));
    return response;
  };
  return {
    get: async <T>(path: string, query: Query = {}) =>
      (await call('GET', path, query, undefined)).json() as Promise<T>,
    ask: async <T>(path: string, body?: unknown) => (await call('POST', path, {}, body)).json() as Promise<T>,
    async send(method, path, body) {
      const location = (await call(method, path, {}, body)).headers.get('location');
      return location === null ? undefined : decodeURIComponent(location.split('/').at(-1) ?? '');
    },
  };
}

/**
 * Returns the message of an error response. Error responses have several shapes (docs/keycloak/errors.md#error-shapes).
 */
async function readMessage(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const message = body['errorMessage'] ?? body['error_description'] ?? body['error'];
    if (typeof message === 'string') return message;
  } catch {
    // The body is not JSON, so the message names the status.
  }
  return response.status === 403
    ? 'You do not have the right to do this'
    : `The service responded with status ${response.status}`;
}

/**
 * Builds a path from segments that are data. It rejects `.` and `..`, because a URL resolves them even if they are
 * escaped, and the call would change another record.
 *
 * @throws AdminFault
 */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): string {
  const unfit = values.find((value) => value === '.' || value === '..');
  if (unfit !== undefined) throw new AdminFault(0, `"${unfit}" is not a valid name in a path`);
  return strings.reduce((all, text, index) => all + encodeURIComponent(values[index - 1] ?? '') + text);
}

/**
 * The URL of this console, `{base_url}/admin/{realm}/console/`. Its users log in to that realm and administer it, or
 * every realm if it is `master`.
 */
export interface Place {
  /** The base URL without a trailing slash. */
  baseUrl: string;
  /** The realm of the login. */
  realm: string;
}

/** Reads the place from the address of the page. @throws Error if the path is not that of a console */
export function readPlace(address: URL): Place {
  const [, basePath, realm] = /^(.*)\/admin\/([^/]+)\/console\/?$/.exec(address.pathname) ?? [];
  if (realm === undefined) throw new Error(`the console cannot run at ${address.pathname}`);
  return { baseUrl: `${address.origin}${basePath}`, realm: decodeURIComponent(realm) };
}
