/** An answer of the administrative API that is not the one hoped for. */
export class AdminFault extends Error {
  override readonly name = 'AdminFault';
  /** HTTP status; 0: the service was not reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The administrative API of one service (Keycloak 26's paths), called as the user who is logged in. */
export interface AdminApi {
  /** @throws AdminFault */
  get<T>(path: string, query?: Query): Promise<T>;
  /**
   * Answers the last segment of `Location` where the service made something.
   *
   * @throws AdminFault
   */
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<string | undefined>;
  /** A POST that answers a body. @throws AdminFault */
  ask<T>(path: string, body?: unknown): Promise<T>;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * @param root `{base_url}/admin/realms`; every path begins below it
 * @param fetch sends the access token
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
      // What a browser says of a connection that it did not get, each in its own words.
      if (error instanceof TypeError) throw new AdminFault(0, 'The service cannot be reached');
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

/** The service's own words: one of the three error shapes of the administrative API (facts §1). */
async function readMessage(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const told = body['errorMessage'] ?? body['error_description'] ?? body['error'];
    if (typeof told === 'string') return told;
  } catch {
    // Not JSON: the status alone tells.
  }
  return response.status === 403 ? 'You may not do this' : `The service answered ${response.status}`;
}

/**
 * A path from segments that are data. A URL would resolve `.` and `..` away, however they are escaped, and the call
 * would be about something else.
 *
 * @throws AdminFault
 */
export function path(strings: TemplateStringsArray, ...values: readonly string[]): string {
  const unfit = values.find((value) => value === '.' || value === '..');
  if (unfit !== undefined) throw new AdminFault(0, `Nothing can be asked about the name "${unfit}"`);
  return strings.reduce((all, text, index) => all + encodeURIComponent(values[index - 1]!) + text);
}

/**
 * Where this console is served: `{base_url}/admin/{realm}/console/`. Its users log in to that realm and administer
 * it, or every realm where it is `master`.
 */
export interface Place {
  /** {base_url} without a trailing slash. */
  baseUrl: string;
  /** The realm of the login. */
  realm: string;
}

/** @throws Error where the page was opened at another path */
export function readPlace(address: URL): Place {
  const match = /^(.*)\/admin\/([^/]+)\/console\/?$/.exec(address.pathname);
  if (match === null) throw new Error(`the console cannot be served at ${address.pathname}`);
  return { baseUrl: `${address.origin}${match[1]}`, realm: decodeURIComponent(match[2]!) };
}
