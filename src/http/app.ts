import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type HTTPMethods,
} from 'fastify';
import type { RealmConfiguration } from '../store/index.ts';
import { adminRoutes } from './admin/index.ts';
import { answerClientError } from './client-error.ts';
import { answerTransportFault, SERVER_FAULT, sendGlobalError, statusText } from './error-answers.ts';
import { sendErrorPage, wantsPage } from './error-page.ts';
import type { Health } from './health.ts';
import type { RequestHistogram, RouteTimes } from './metrics/request-histogram.ts';
import { answerNotFound } from './not-found.ts';
import { oidcRoutes } from './oidc/index.ts';
import {
  addRawParser,
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
import { type ServedUrl, UrlTable } from './url-table.ts';
import { joinUrls, type UrlEntry } from './urls.ts';
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
/** Nothing there reads a body. */
const MANAGEMENT_BODY_BYTES = 1024;
/** What a URL may be asked with; where it is not one of these, it is not found. */
const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/** The app of the public port: every row of the URL table, the same headers, limits and errors for all. */
export function buildApp(services: Services, options: AppOptions): FastifyInstance {
  const app = newApp(options);
  addRawParser(app);
  const { requests } = options.metrics;
  const table = new UrlTable();
  for (const entry of joinUrls(oidcRoutes, adminRoutes, rootRoutes))
    table.add(entry.url, entry.methods, (method) => serveRow(entry, method, services, requests));
  if (options.serviceRoutes) addServiceRoutes(table, options);
  addHooks(app, table, services, requests.forRoute('ANY', 'NOT_FOUND'));
  leaveConnections(app, options.health);
  addErrorHandler(app, options.log);
  const notFound = (request: FastifyRequest, reply: FastifyReply) => answerNotFound(services, request, reply);
  app.setNotFoundHandler(notFound);
  const { bodyBytes, adminBodyBytes } = services.limits;
  addEveryUrl(app, ['/*'], METHODS, bodyBytes, notFound);
  // Here every method but OPTIONS has a row that proves its caller before it reads a large body.
  const proved = METHODS.filter((method) => method !== 'OPTIONS');
  addEveryUrl(app, ['/admin/realms', '/admin/realms/*'], proved, adminBodyBytes, notFound);
  return app;
}

/** The app of `--management-port`: health and metrics, nothing else. */
export function buildManagementApp(options: AppOptions): FastifyInstance {
  const app = newApp({ ...options, trustedProxies: [] });
  addRawParser(app);
  const table = new UrlTable();
  addServiceRoutes(table, options);
  app.addHook('onRequest', (request, _reply, done) => {
    findServed(table, request);
    done();
  });
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    sendGlobalError(request, reply, 404, statusText(404));
  app.setNotFoundHandler(notFound);
  app.setErrorHandler((error, request, reply) => {
    if (!answerTransportFault(error, request, reply)) answerBug(options.log, error, request, reply);
  });
  leaveConnections(app, options.health);
  addEveryUrl(app, ['/*'], METHODS, MANAGEMENT_BODY_BYTES, notFound);
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
    routerOptions: { ignoreTrailingSlash: true },
    frameworkErrors: (_error, request, reply) => {
      const answer = (reply as FastifyReply).headers(securityHeaders(undefined) as Record<string, string>);
      sendGlobalError(request as FastifyRequest, answer, 400, statusText(400));
    },
  };
  // The type of an https app differs in its server alone, which nothing here touches.
  const own = options.tls ? { https: { ...server, ...options.tls } } : { http: server };
  const app = Fastify({ ...common, ...own } as FastifyServerOptions);
  app.decorateRequest('served', null);
  return app;
}

function noSchemas(): never {
  throw new Error('no row of the URL table has a schema');
}

/** Looks the request's URL up in the table; Fastify's own router knows no more than `*`. */
function findServed(table: UrlTable, request: FastifyRequest): ServedUrl | null {
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
function addEveryUrl(
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

function addHooks(app: FastifyInstance, table: UrlTable, services: Services, notFound: RouteTimes): void {
  app.addHook('onRequest', async (request, reply) => {
    const served = findServed(table, request);
    const { realm } = request.params as { realm?: string };
    const configuration: RealmConfiguration | undefined =
      realm === undefined ? undefined : await services.protocol.store.findRealm(realm);
    reply.headers(securityHeaders(configuration) as Record<string, string>);
    replaceMalformedType(request);
    const fault = findPathFault(request.raw.url ?? '/');
    if (fault !== undefined) {
      reply.code(400).send(fault);
      return reply;
    }
    if (served !== null && declaredLength(request) !== 0)
      await checkBodyBeforeReading(served, services, request);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // JSON has no such parameter (RFC 8259 §11); the framework adds it.
    if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
      reply.header('content-type', 'application/json');
    addPagePolicy(reply, request.method === 'POST' && !request.url.startsWith('/admin/'));
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const times = request.served === null ? notFound : request.served.times;
    times?.observe(reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
}

/** A service that ends keeps no connection for another request, so that none is on its way when the listener closes. */
function leaveConnections(app: FastifyInstance, health: Pick<Health, 'isStopping'>): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (health.isStopping()) reply.header('connection', 'close');
    done();
  });
}

function addErrorHandler(app: FastifyInstance, log: ServiceLog): void {
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

/**
 * What answers a method of a URL: its row, or 405 where there is none, below the administrative API only to those
 * whom it would listen to.
 */
function serveRow(
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
