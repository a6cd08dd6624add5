import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { sendGlobalError, statusText } from './error-answers.ts';
import type { RequestHistogram } from './metrics/request-histogram.ts';
import type { Route, Services } from './route.ts';
import type { ServedUrl, UrlTable } from './url-table.ts';
import type { UrlEntry } from './urls.ts';

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
