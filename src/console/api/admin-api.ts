import { renderFault } from './fault-texts.ts';

/** A call of the administrative API that failed. */
export class AdminFault extends Error {
  override readonly name = 'AdminFault';
  /** The HTTP status, or 0 if the service was unreachable. */
  readonly status: number;
  /** What is wrong with a field of the representation, by the name of the field. Empty if the error names no field. */
  readonly faults: ReadonlyMap<string, string>;

  constructor(status: number, message: string, faults: ReadonlyMap<string, string> = new Map()) {
    super(message);
    this.status = status;
    this.faults = faults;
  }
}

/** The administrative API of a service, with Keycloak 26's paths, called as the user who is logged in. */
export interface AdminApi {
  /** @throws AdminFault, or the reason of `signal` if it is aborted */
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  /**
   * Returns the last segment of `Location`, if the service created a record.
   *
   * @throws AdminFault
   */
  send(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<string | undefined>;
  /** Sends a POST and returns the body of the response. @throws AdminFault */
  ask<T>(path: string, body?: unknown, query?: Query): Promise<T>;
  /** Describes the user and the user's roles in the realm `of`. `realm` is the realm of the login. @throws AdminFault */
  getWhoAmI<T>(realm: string, of: string): Promise<T>;
  /** Gets a path relative to `{base_url}/admin`. @throws AdminFault */
  getOutside<T>(path: string): Promise<T>;
  /** As `ask`, for a path relative to `{base_url}/admin`. @throws AdminFault */
  askOutside<T>(path: string, body?: unknown): Promise<T>;
  /** As `send`, for a path relative to `{base_url}/admin`. @throws AdminFault */
  sendOutside(method: 'DELETE', path: string): Promise<void>;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * @param root `{base_url}/admin`; paths are relative to `realms` below it
 * @param fetch adds the access token
 */
export function openAdminApi(root: string, fetch: typeof globalThis.fetch): AdminApi {
  const call = async (
    method: string,
    path: string,
    query: Query,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<Response> => {
    const url = new URL(`${root}${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
    }
    const response = await fetch(url, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      signal?.throwIfAborted();
      // The browser's own message for a failed connection is replaced, because it differs between browsers.
      if (error instanceof TypeError) throw new AdminFault(0, 'The service is unreachable');
      throw new AdminFault(0, error instanceof Error ? error.message : String(error));
    });
    if (!response.ok) throw await readFault(response);
    return response;
  };
  const getJson = async <T>(path: string, query: Query = {}, signal?: AbortSignal) =>
    (await call('GET', path, query, undefined, signal)).json() as Promise<T>;
  return {
    get: (path, query, signal) => getJson(`/realms${path}`, query, signal),
    ask: async <T>(path: string, body?: unknown, query: Query = {}) =>
      (await call('POST', `/realms${path}`, query, body)).json() as Promise<T>,
    async send(method, path, body) {
      const location = (await call(method, `/realms${path}`, {}, body)).headers.get('location');
      return location === null ? undefined : decodeURIComponent(location.split('/').at(-1) ?? '');
    },
    getWhoAmI: (realm, of) => getJson(path`/${realm}/console/whoami`, { currentRealm: of }),
    getOutside: (path) => getJson(path),
    askOutside: async <T>(path: string, body?: unknown) =>
      (await call('POST', path, {}, body)).json() as Promise<T>,
    async sendOutside(method, path) {
      await call(method, path, {}, undefined);
    },
  };
}

/** Reads an error response. Error responses have several shapes (docs/keycloak/errors.md#error-shapes). */
async function readFault(response: Response): Promise<AdminFault> {
  const { status } = response;
  const body = await readObject(response);
  const faults = new Map<string, string>();
  for (const one of [body, ...(Array.isArray(body['errors']) ? body['errors'] : [])]) {
    const { field, errorMessage, params } = one as Record<string, unknown>;
    if (typeof field === 'string' && typeof errorMessage === 'string')
      faults.set(field, renderFault(errorMessage, Array.isArray(params) ? params : []));
  }
  const message = body['errorMessage'] ?? body['error_description'] ?? body['error'];
  // The API names the field of an invalid value by its path, such as `$.sslRequired: must be one of …`, or
  // `$.attributes["refreshGraceSeconds"]: must be …`.
  const [, own, attribute, what] =
    /\$\.(?:attributes\["([^"]+)"\]|(\w+)): (.+)$/s.exec(typeof message === 'string' ? message : '') ?? [];
  const field = own ?? attribute;
  if (field !== undefined && what !== undefined) faults.set(field, what);
  if (faults.size > 0)
    return new AdminFault(
      status,
      [...faults].map(([name, text]) => `${nameField(name)}: ${text}`).join('. '),
      faults,
    );
  if (status === 403) return new AdminFault(status, 'You do not have the right to do this');
  if (typeof message === 'string') return new AdminFault(status, message);
  return new AdminFault(status, `The service responded with status ${status}`);
}

/** Renders the name of a field for people: `failureFactor` as `failure factor`. */
function nameField(name: string): string {
  return name.replace(/[a-z][A-Z]/g, (pair) => `${pair[0]} ${pair[1]!.toLowerCase()}`);
}

/** Returns the JSON object in the body, or an empty one if there is none. */
async function readObject(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    // The body is not JSON, so the message names the status.
    return {};
  }
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
