import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { sendGlobalError, statusText } from '../answers/error-answers.ts';
import type { RequestHistogram, RouteTimes } from '../monitoring/request-histogram.ts';
import type { Route, Services } from './route.ts';
import { UrlTree } from './url-tree.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What answers the request; null where its URL is not in the table. */
    served: ServedUrl | null;
  }
}

/** One method of one URL, ready to answer. */
export interface ServedUrl {
  /** With the names that the parts of the path get. */
  url: string;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
  /** See `Route`. */
  authorize?: Route['authorize'] | undefined;
  /** Where its answers are counted; health and metrics are not. */
  times?: RouteTimes;
}

/** How a request is answered, and the parts of its path by name. */
export interface FoundServed {
  served: ServedUrl;
  params: Readonly<Record<string, string>>;
}

interface Row {
  methods: readonly Route['method'][];
  serve(method: Route['method']): ServedUrl;
  /** By method, made at the first request. */
  made: Map<Route['method'], { served: ServedUrl; names: readonly string[] }>;
}

/** Every URL of an app. What answers one is made when it is first asked for: a start has no use for most of them. */
export class UrlTable {
  readonly #tree = new UrlTree<Row>((row, method) => methodServed(row, method) !== undefined);

  /** @param serve makes what answers a method of the URL; asked once for each that is requested */
  add(url: string, methods: Row['methods'], serve: Row['serve']): void {
    this.#tree.openPlace(url, () => ({ methods, serve, made: new Map() }));
  }

  /** @throws URIError where a percent escape of the path is broken */
  find(method: string, rawUrl: string): FoundServed | undefined {
    const found = this.#tree.find(method, rawUrl);
    if (found === undefined) return undefined;
    const { entry, values } = found;
    const own = methodServed(entry, method)!;
    let made = entry.made.get(own);
    if (made === undefined) {
      const served = entry.serve(own);
      made = { served, names: namesOf(served.url) };
      entry.made.set(own, made);
    }
    const params: Record<string, string> = {};
    for (let index = 0; index < values.length; index += 1) params[made.names[index]!] = values[index]!;
    return { served: made.served, params };
  }
}

/** The method of the table that answers a request's: itself, or GET for HEAD. */
function methodServed({ methods }: Row, method: string): Route['method'] | undefined {
  for (const own of methods) if (own === method) return own;
  return method === 'HEAD' && methods.includes('GET') ? 'GET' : undefined;
}

/** `realm` and `*` of `/realms/:realm/*`. */
function namesOf(url: string): readonly string[] {
  const segments = url.split('/').filter((segment) => segment === '*' || segment.startsWith(':'));
  return segments.map((segment) => segment.replace(':', ''));
}

/** What a URL may be asked with; where it is not one of these, it is not found. */
export const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/** Looks the request's URL up in the table; Fastify's own router knows no more than `*`. */
export function findServed(table: UrlTable, request: FastifyRequest): ServedUrl | null {
  if (request.is404) return null;
  const found = table.find(request.method, request.raw.url ?? '/');
  request.params = found?.params ?? {};
  request.served = found?.served ?? null;
  return request.served;
}

/**
 * One entry of Fastify's router for all that lies below `urls`, because its own entries cost a start more than a
 * request costs. It holds bodies of unknown length to the limit.
 */
export function addEveryUrl(
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

/**
 * What answers a method of a URL: its row, or 405 where there is none, below the administrative API only to those
 * whom it would listen to.
 */
export function serveRow(
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
      return sendGlobalError(request, reply, 405, statusText(405));
    },
  };
}

/** `/realms/:realm/x` as `/realms/{realm}/x`. */
function patternOf(url: string): string {
  return url.replace(/:([^/(]+)(?:\([^/]*\))?/g, '{$1}');
}

/**
 * The methods that a URL may be asked with beside OPTIONS. Where the table has no row for one, the answer is 405 in
 * the shape of Keycloak's global handler (facts §1).
 */
const ROW_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** One URL with its rows, and every method that it answers or refuses. */
interface UrlEntry {
  url: string;
  routes: readonly Route[];
  methods: readonly Route['method'][];
}

/** Joins the rows of all parts into one table. @throws where two parts claim the same method and URL */
export function joinUrls(...parts: readonly (readonly Route[])[]): readonly UrlEntry[] {
  const entries: { url: string; routes: Route[]; methods: Route['method'][] }[] = [];
  const tree = new UrlTree<(typeof entries)[number]>(() => true);
  for (const part of parts)
    for (const route of part) {
      const { url, method } = route;
      const entry = tree.openPlace(url, () => {
        const made = { url, routes: [], methods: [...ROW_METHODS] };
        entries.push(made);
        return made;
      });
      for (const other of entry.routes)
        if (other.method === method) throw new Error(`two rows of the URL table for ${method} ${url}`);
      entry.routes.push(route);
      if (!entry.methods.includes(method)) entry.methods.push(method);
    }
  return entries;
}
