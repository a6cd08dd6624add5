import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { urgently } from '../../core/index.ts';
import { adminRoutes } from '../admin/index.ts';
import {
  accountRoutes,
  loginRoutes,
  previewRoutes,
  resourceRoutes,
  sessionRoutes,
} from '../browser/index.ts';
import { consoleRoutes } from '../console/console-routes.ts';
import type { Health } from '../monitoring/health.ts';
import type { RequestHistogram, RouteTimes } from '../monitoring/metrics.ts';
import { addHealth, addMetrics, type ServiceFigures } from '../monitoring/monitoring-routes.ts';
import { metadataRoutes, notImplementedRoutes, tokenRoutes } from '../oidc/index.ts';
import {
  addRawParser,
  checkBodyBeforeReading,
  declaredLength,
  discardRest,
  LargeBodies,
  replaceMalformedType,
} from '../request/request-body.ts';
import { addErrorHandler } from '../responses/error-responses.ts';
import { sendNotFound } from '../responses/not-found.ts';
import { addPagePolicy, setSecurityHeaders } from '../responses/security-headers.ts';
import { STATUS } from '../responses/statuses.ts';
import { themeRoutes } from '../themes/index.ts';
import type { Route, ServiceLog, Services } from '../url-table/route.ts';
import {
  addCatchAll,
  findRoute,
  joinRoutes,
  METHODS,
  serveMethod,
  UrlTable,
} from '../url-table/url-table.ts';
import { newApp } from './new-app.ts';
import type { TlsFiles } from './tls.ts';

/** Every route of the public port except health and metrics, which are added separately. */
export const ROUTES: readonly (readonly Route[])[] = [
  ...[
    tokenRoutes,
    metadataRoutes,
    loginRoutes,
    sessionRoutes,
    accountRoutes,
    resourceRoutes,
    themeRoutes,
  ].map((routes) => routes.map(asUrgent)),
  previewRoutes,
  adminRoutes,
  consoleRoutes,
  notImplementedRoutes,
];

/** Marks the requests of a route as urgent, so that administrators do not delay them. */
function asUrgent(route: Route): Route {
  return {
    ...route,
    handle: (services, request, reply) => urgently(() => route.handle(services, request, reply)),
  };
}

/** Options of the app of the public port. */
export interface AppOptions extends ServiceFigures {
  log: ServiceLog;
  /** Addresses or CIDR blocks of the proxies whose X-Forwarded-For and X-Forwarded-Proto the app trusts. */
  trustedProxies: readonly string[];
  tls?: TlsFiles | undefined;
  requests: RequestHistogram;
  /** Whether the base URL serves `/metrics` too. */
  metricsPublic: boolean;
}

/** Builds the app of the public port: all routes, with the same headers, limits and errors for each. */
export function buildApp(services: Services, options: AppOptions): FastifyInstance {
  const app = newApp(options);
  addRawParser(app);
  const { requests, health } = options;
  const table = new UrlTable();
  for (const entry of joinRoutes(...ROUTES))
    table.add(entry.url, entry.methods, (method) => serveMethod(entry, method, services, requests));
  addHealth(table, health, 'status');
  if (options.metricsPublic) addMetrics(table, options.exposition);
  rejectWhilePreparing(app, health);
  addHooks(app, table, services, requests.forRoute('ANY', 'NOT_FOUND'));
  closeConnectionsAtEnd(app, health);
  addErrorHandler(app, options.log);
  const notFound = (request: FastifyRequest, reply: FastifyReply) => sendNotFound(services, request, reply);
  app.setNotFoundHandler(notFound);
  const { bodyBytes, adminBodyBytes } = services.limits;
  addCatchAll(app, ['/*'], METHODS, bodyBytes, notFound);
  // Every administrative route with a body authorizes the caller before the service reads a large body.
  const authorized = METHODS.filter((method) => method !== 'OPTIONS');
  addCatchAll(app, ['/admin/realms', '/admin/realms/*'], authorized, adminBodyBytes, notFound);
  return app;
}

function addHooks(app: FastifyInstance, table: UrlTable, services: Services, notFound: RouteTimes): void {
  const bodies = new LargeBodies();
  app.addHook('onRequest', async (request, reply) => {
    const found = findRoute(table, request);
    const realm = found?.params['realm'];
    setSecurityHeaders(
      reply,
      realm === undefined ? undefined : await services.protocol.store.findRealm(realm),
    );
    replaceMalformedType(request);
    const fault = findPathFault(request.raw.url ?? '/');
    if (fault !== undefined) {
      reply.code(STATUS.badRequest).send(fault);
      return reply;
    }
    if (found !== undefined && declaredLength(request) !== 0) {
      await checkBodyBeforeReading(found.served, services, request);
      bodies.admit(found.served, request, reply);
    }
  });
  app.addHook('preParsing', (request, reply, body: Readable, done) => {
    done(null, bodies.watch(request.served, request, reply, body));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // Fastify adds a charset, but JSON does not have that parameter (RFC 8259 §11).
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

/** Delay in seconds that `Retry-After` suggests while the service is importing realm files. */
const RETRY_SECONDS = 5;

/** Rejects all requests except health checks while the service is importing realm files. */
function rejectWhilePreparing(app: FastifyInstance, health: Pick<Health, 'preparing'>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!health.preparing || /^\/health(\/|\?|$)/.test(request.raw.url ?? '')) return done();
    discardRest(request);
    setSecurityHeaders(reply)
      .code(STATUS.serviceUnavailable)
      .headers({ 'retry-after': RETRY_SECONDS, connection: 'close' })
      .send({
        error: 'temporarily_unavailable',
        error_description: 'The service is importing realm files. Try again later.',
      });
  });
}

/**
 * Closes each connection after its next response if the process is about to end, so that no request is in flight when
 * the listener closes.
 */
export function closeConnectionsAtEnd(app: FastifyInstance, health: Pick<Health, 'leaving'>): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (health.leaving) reply.header('connection', 'close');
    done();
  });
}

/** The body of the response to a path that Keycloak rejects (docs/keycloak/errors.md#path-normalization). */
interface PathFault {
  error: 'missingNormalization' | 'invalidCharacter';
  error_description: string;
}

const suspicious = /\/\/|\/\.|\.\.|;|%(?:00|2e)|\\/i;

/** Returns what is wrong with the raw path or query of a request, or undefined if both are valid. */
function findPathFault(rawUrl: string): PathFault | undefined {
  const end = rawUrl.indexOf('?');
  const path = end < 0 ? rawUrl : rawUrl.slice(0, end);
  if (suspicious.test(path)) {
    if (path.includes(';')) return invalidCharacter("path contains invalid character ';'");
    if (path.includes('%00')) return invalidCharacter('path contains a NUL byte');
    const dotted = path.replace(/%2e/gi, '.').replaceAll('\\', '/');
    if (/\/\/|\/\.{1,2}(?:\/|$)/.test(dotted))
      return { error: 'missingNormalization', error_description: 'Request path not normalized' };
  }
  if (end >= 0 && rawUrl.includes('%00', end)) return invalidCharacter('query contains a NUL byte');
  return undefined;
}

function invalidCharacter(what: string): PathFault {
  return { error: 'invalidCharacter', error_description: `Request ${what}` };
}
