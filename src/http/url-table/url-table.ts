import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { RequestHistogram, RouteTimes } from '../monitoring/metrics.ts';
import { sendGlobalError } from '../responses/error-responses.ts';
import { STATUS } from '../responses/statuses.ts';
import type { Route, Services } from './route.ts';
import { UrlTree } from './url-tree.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The route that handles the request. Null if the table does not contain its URL. */
    served: ServedUrl | null;
  }
}

/** One method of one URL, ready to handle requests. */
export interface ServedUrl {
  /** The URL of the route, with the names of its parameters. */
  url: string;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
  /** See `Route`. */
  authorize?: Route['authorize'] | undefined;
  /** Counts the responses. Absent for health and metrics, which are not counted. */
  times?: RouteTimes;
}

/** The route that handles a request, and the parameters in the path by name. */
export interface FoundUrl {
  served: ServedUrl;
  params: Readonly<Record<string, string>>;
}

interface Row {
  methods: readonly Route['method'][];
  serve(method: Route['method']): ServedUrl;
  /** The handlers that requests have needed so far, by method. */
  served: Map<Route['method'], { url: ServedUrl; names: readonly string[] }>;
}

/** All URLs of an app. Each handler is created when a request first needs it, so that the service starts faster. */
export class UrlTable {
  readonly #tree = new UrlTree<Row>((row, method) => findMethod(row, method) !== undefined);

  /** @param serve creates the handler of a method; called at most once for each method */
  add(url: string, methods: Row['methods'], serve: Row['serve']): void {
    this.#tree.getOrAdd(url, () => ({ methods, serve, served: new Map() }));
  }

  /** @throws URIError for a broken percent escape in the path */
  find(method: string, rawUrl: string): FoundUrl | undefined {
    const found = this.#tree.find(method, rawUrl);
    if (found === undefined) return undefined;
    const { entry, values } = found;
    const own = findMethod(entry, method);
    if (own === undefined) return undefined;
    let served = entry.served.get(own);
    if (served === undefined) {
      const url = entry.serve(own);
      served = { url, names: parameterNames(url.url) };
      entry.served.set(own, served);
    }
    const params: Record<string, string> = {};
    served.names.forEach((name, index) => {
      params[name] = values[index] ?? '';
    });
    return { served: served.url, params };
  }
}

/** Returns the method whose route handles a request: the request's own method, or GET for HEAD. */
function findMethod({ methods }: Row, method: string): Route['method'] | undefined {
  for (const own of methods) if (own === method) return own;
  return method === 'HEAD' && methods.includes('GET') ? 'GET' : undefined;
}

/** Returns the names of the parameters in a URL, for example `realm` and `*` for `/realms/:realm/*`. */
function parameterNames(url: string): readonly string[] {
  const segments = url.split('/').filter((segment) => segment === '*' || segment.startsWith(':'));
  return segments.map((segment) => segment.replace(':', ''));
}

/**
 * Looks the request up in the table and stores the result in the request. Fastify's own router contains only catch-all
 * routes.
 */
export function findRoute(table: UrlTable, request: FastifyRequest): FoundUrl | undefined {
  if (request.is404) return undefined;
  const found = table.find(request.method, request.raw.url ?? '/');
  request.params = found?.params ?? {};
  request.served = found?.served ?? null;
  return found;
}

/** Returns a parameter of the path. The URL of the route has to contain it. */
export function pathParameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

/** The methods that the service accepts. Requests with any other method get 404. */
export const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/**
 * Adds one catch-all route to Fastify's router for all paths below each of `urls`. If each URL of the table were added
 * to that router, the service would start more slowly. Fastify enforces the limit for bodies of unknown length.
 *
 * @param limit maximum size of a body in bytes
 */
export function addCatchAll(
  app: FastifyInstance,
  urls: readonly string[],
  methods: readonly HTTPMethods[],
  limit: number,
  notFound: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  for (const url of urls)
    app.route({
      method: [...methods],
      url,
      bodyLimit: limit,
      handler: (request, reply) =>
        request.served === null ? notFound(request, reply) : request.served.handle(request, reply),
    });
}

/** One URL with its routes, and all methods that it handles or rejects with 405. */
export interface UrlEntry {
  url: string;
  routes: readonly Route[];
  methods: readonly Route['method'][];
}

/**
 * The methods that every URL responds to. If the URL has no route for such a method, the response is 405
 * (docs/keycloak/errors.md#unknown-realms-and-paths).
 */
const KNOWN_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** Groups routes by URL. @throws Error if two routes have the same method and URL */
export function joinRoutes(...lists: readonly (readonly Route[])[]): readonly UrlEntry[] {
  const entries: { url: string; routes: Route[]; methods: Route['method'][] }[] = [];
  const tree = new UrlTree<(typeof entries)[number]>(() => true);
  for (const route of lists.flat()) {
    const { url, method } = route;
    const entry = tree.getOrAdd(url, () => {
      const added = { url, routes: [], methods: [...KNOWN_METHODS] };
      entries.push(added);
      return added;
    });
    for (const other of entry.routes)
      if (other.method === method) throw new Error(`two routes have the method and URL ${method} ${url}`);
    entry.routes.push(route);
    if (!entry.methods.includes(method)) entry.methods.push(method);
  }
  return entries;
}

/**
 * Creates the handler of a method: its route, or 405 if the URL does not support the method. In the administrative
 * API, only authorized callers get 405.
 */
export function serveMethod(
  { url, routes }: UrlEntry,
  method: Route['method'],
  services: Services,
  requests: RequestHistogram,
): ServedUrl {
  const route = routes.find((row) => row.method === method);
  if (route !== undefined)
    return {
      url: route.url,
      authorize: route.authorize,
      times: requests.forRoute(method, patternOf(route.url)),
      handle: (request, reply) => route.handle(services, request, reply),
    };
  const authorize = routes.find((row) => row.authorize)?.authorize;
  return {
    url,
    authorize,
    times: requests.forRoute(method, patternOf(url)),
    handle: async (request, reply) => {
      await authorize?.(services, request);
      return sendGlobalError(request, reply, STATUS.methodNotAllowed);
    },
  };
}

/** Returns a URL with its parameters in braces, for example `/realms/{realm}/x` for `/realms/:realm/x`. */
function patternOf(url: string): string {
  return url.replace(/:([^/(]+)(?:\([^/]*\))?/g, '{$1}');
}
