import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { RealmConfiguration } from '../store/index.ts';
import { adminRoutes } from './admin/index.ts';
import { answerClientError } from './client-error.ts';
import { answerTransportFault, SERVER_FAULT, sendGlobalError, statusText } from './error-answers.ts';
import { sendErrorPage, wantsPage } from './error-page.ts';
import type { RouteTimes } from './metrics/request-histogram.ts';
import { answerNotFound } from './not-found.ts';
import { oidcRoutes } from './oidc/index.ts';
import {
  addRawParser,
  bodyLimit,
  checkBodyBeforeReading,
  declaredLength,
  discardRest,
  replaceMalformedType,
} from './request-body.ts';
import { findPathFault } from './request-path.ts';
import { rootRoutes } from './root-routes.ts';
import type { Route, Services } from './route.ts';
import { addPagePolicy, securityHeaders } from './security-headers.ts';
import type { ServiceLog } from './service-log.ts';
import { addServiceRoutes, type ServiceFigures } from './service-routes.ts';
import type { TlsFiles } from './tls.ts';
import { joinUrls } from './urls.ts';
import { renderRefusal } from './wire-errors.ts';

/** How the apps are built. */
export interface AppOptions extends ServiceFigures {
  log: ServiceLog;
  /** Addresses or CIDR blocks from which X-Forwarded-For and -Proto are believed. */
  trustedProxies: readonly string[];
  tls?: TlsFiles | undefined;
  /** False: `/health…` and `/metrics` are on a listener of their own. */
  serviceRoutes: boolean;
}

/** Milliseconds. A request must arrive within the first; an idle connection lives for the last. */
const TIMES = { request: 120_000, headers: 30_000, idle: 75_000 } as const;
/** Bytes of all header lines of one request. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Characters of one segment of a path; longer ones are not found. */
const MAX_SEGMENT = 2048;

/** The app of the public port: every row of the URL table, the same headers, limits and errors for all. */
export function buildApp(services: Services, options: AppOptions): FastifyInstance {
  const app = newApp(options);
  addRawParser(app);
  addHooks(app, services, options.metrics.requests.forRoute('ANY', 'NOT_FOUND'));
  addErrorHandlers(app, services, options.log);
  if (options.serviceRoutes) addServiceRoutes(app, options);
  const { requests } = options.metrics;
  for (const { url, routes, refused } of joinUrls(oidcRoutes, adminRoutes, rootRoutes)) {
    for (const route of routes)
      addRoute(app, services, route, requests.forRoute(route.method, patternOf(route.url)));
    const authorize = routes.find((route) => route.authorize)?.authorize;
    addRefusedMethods(app, services, { url, refused, authorize }, (method) =>
      requests.forRoute(method, patternOf(url)),
    );
  }
  return app;
}

/** The app of `--management-port`: health and metrics, nothing else. */
export function buildManagementApp(options: AppOptions): FastifyInstance {
  const app = newApp({ ...options, trustedProxies: [] });
  addRawParser(app);
  app.setNotFoundHandler((request, reply) => sendGlobalError(request, reply, 404, statusText(404)));
  app.setErrorHandler((error, request, reply) => {
    if (!answerTransportFault(error, request, reply)) answerBug(options.log, error, request, reply);
  });
  addServiceRoutes(app, options);
  return app;
}

function newApp(options: Pick<AppOptions, 'tls' | 'trustedProxies'>): FastifyInstance {
  const server = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: TIMES.headers };
  const common: FastifyServerOptions = {
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    requestTimeout: TIMES.request,
    keepAliveTimeout: TIMES.idle,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: answerClientError,
    // No row has a JSON schema, so the compilers, half of what Fastify would load, stay away.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_SEGMENT },
    frameworkErrors: (_error, request, reply) => {
      const answer = (reply as FastifyReply).headers(securityHeaders(undefined) as Record<string, string>);
      sendGlobalError(request as FastifyRequest, answer, 400, statusText(400));
    },
  };
  // The type of an https app differs in its server alone, which nothing here touches.
  const own = options.tls ? { https: { ...server, ...options.tls } } : { http: server };
  return Fastify({ ...common, ...own } as FastifyServerOptions);
}

function noSchemas(): never {
  throw new Error('no row of the URL table has a schema');
}

function addHooks(app: FastifyInstance, services: Services, notFound: RouteTimes): void {
  app.addHook('onRequest', async (request, reply) => {
    const realm = (request.params as { realm?: string } | undefined)?.realm;
    const configuration: RealmConfiguration | undefined =
      realm === undefined ? undefined : await services.protocol.store.findRealm(realm);
    reply.headers(securityHeaders(configuration) as Record<string, string>);
    replaceMalformedType(request);
    const fault = findPathFault(request.raw.url ?? '/');
    if (fault !== undefined) {
      reply.code(400).send(fault);
      return reply;
    }
  });
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A connection that was busy when the server closed would be kept for its next request.
    if (closing) reply.header('connection', 'close');
    addPagePolicy(reply, request.method === 'POST' && !request.url.startsWith('/admin/'));
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) notFound.observe(reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
}

function addErrorHandlers(app: FastifyInstance, services: Services, log: ServiceLog): void {
  app.setNotFoundHandler((request, reply) => answerNotFound(services, request, reply));
  app.setErrorHandler((error, request, reply) => {
    const refusal = renderRefusal(error);
    if (refusal !== undefined) {
      discardRest(request);
      // What does not exist is a page for a browser (facts §1).
      const { error: text } = Object(refusal.body) as { error?: unknown };
      if (refusal.status === 404 && typeof text === 'string' && wantsPage(request))
        return sendErrorPage(reply, 404, text);
      return reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
    }
    if (answerTransportFault(error, request, reply)) return;
    answerBug(log, error, request, reply);
  });
}

/** Not a refusal and not the caller's fault: logged with its stack, and told without it. */
function answerBug(log: ServiceLog, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  log.error(
    { err: error, method: request.method, path: request.url.split('?', 1)[0] },
    'a request failed in a way that is a bug',
  );
  reply.code(500).send(SERVER_FAULT);
}

function addRoute(app: FastifyInstance, services: Services, route: Route, times: RouteTimes): void {
  const limit = bodyLimit(route, services);
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: route.url,
    bodyLimit: limit,
    onRequest: async (request) => {
      if (declaredLength(request) !== 0) await checkBodyBeforeReading(route, services, request);
    },
    onResponse: (_request, reply, done) => {
      times.observe(reply.statusCode, reply.elapsedTime / 1000);
      done();
    },
    handler: (request, reply) => route.handle(services, request, reply),
  });
}

/**
 * Methods that no row answers: 405, below the administrative API only to those whom it would listen to. One entry
 * for all of a URL, because adding one costs a start more than a request costs.
 */
function addRefusedMethods(
  app: FastifyInstance,
  services: Services,
  entry: { url: string; refused: readonly Route['method'][]; authorize: Route['authorize'] },
  timesOf: (method: Route['method']) => RouteTimes,
): void {
  const { url, authorize } = entry;
  const times = new Map<string, RouteTimes>();
  for (const method of entry.refused) if (method !== 'OPTIONS') times.set(method, timesOf(method));
  const get = times.get('GET');
  if (get !== undefined) times.set('HEAD', get);
  if (times.size === 0) return;
  app.route({
    method: [...times.keys()],
    url,
    onResponse: (request, reply, done) => {
      times.get(request.method)?.observe(reply.statusCode, reply.elapsedTime / 1000);
      done();
    },
    handler: async (request, reply) => {
      await authorize?.(services, request);
      return sendGlobalError(request, reply, 405, statusText(405));
    },
  });
}

/** `/realms/:realm/x` as `/realms/{realm}/x`. */
function patternOf(url: string): string {
  return url.replace(/:([^/(]+)(?:\([^/]*\))?/g, '{$1}');
}
