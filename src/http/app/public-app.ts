import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RealmConfiguration } from '../../store/index.ts';
import { adminRoutes } from '../admin/index.ts';
import { addErrorHandler } from '../answers/error-answers.ts';
import { answerNotFound } from '../answers/not-found.ts';
import { addPagePolicy, securityHeaders } from '../answers/security-headers.ts';
import { accountRoutes, loginRoutes, resourceRoutes, sessionRoutes } from '../browser/index.ts';
import { consoleRoutes } from '../console/console-routes.ts';
import type { Health } from '../monitoring/health.ts';
import { addHealth, addMetrics, type ServiceFigures } from '../monitoring/monitoring-routes.ts';
import type { RequestHistogram, RouteTimes } from '../monitoring/request-histogram.ts';
import { metadataRoutes, notImplementedRoutes, tokenRoutes } from '../oidc/index.ts';
import {
  addRawParser,
  checkBodyBeforeReading,
  declaredLength,
  discardRest,
  LargeBodies,
  replaceMalformedType,
} from '../request/request-body.ts';
import type { Route, ServiceLog, Services } from '../url-table/route.ts';
import { addEveryUrl, findServed, joinUrls, METHODS, serveRow, UrlTable } from '../url-table/url-table.ts';
import { newApp } from './new-app.ts';
import type { TlsFiles } from './tls.ts';

/** Every row of the URL table but health and metrics, which the management listener serves too. */
export const ROUTES: readonly (readonly Route[])[] = [
  tokenRoutes,
  metadataRoutes,
  loginRoutes,
  sessionRoutes,
  accountRoutes,
  resourceRoutes,
  adminRoutes,
  consoleRoutes,
  notImplementedRoutes,
];

/** How the apps are built. */
export interface AppOptions extends ServiceFigures {
  log: ServiceLog;
  /** Addresses or CIDR blocks from which X-Forwarded-For and -Proto are believed. */
  trustedProxies: readonly string[];
  tls?: TlsFiles | undefined;
  requests: RequestHistogram;
  /** True: the base URL answers `/metrics` too. */
  metricsPublic: boolean;
}

/** The app of the public port: every row of the URL table, the same headers, limits and errors for all. */
export function buildApp(services: Services, options: AppOptions): FastifyInstance {
  const app = newApp(options);
  addRawParser(app);
  const { requests } = options;
  const table = new UrlTable();
  for (const entry of joinUrls(...ROUTES))
    table.add(entry.url, entry.methods, (method) => serveRow(entry, method, services, requests));
  addHealth(table, options.health, 'status');
  if (options.metricsPublic) addMetrics(table, options.exposition);
  refuseWhilePreparing(app, options.health);
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

function addHooks(app: FastifyInstance, table: UrlTable, services: Services, notFound: RouteTimes): void {
  const bodies = new LargeBodies();
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
    if (served !== null && declaredLength(request) !== 0) {
      await checkBodyBeforeReading(served, services, request);
      bodies.admit(served, request, reply);
    }
  });
  app.addHook('preParsing', (request, reply, body, done) => {
    done(null, bodies.watch(request.served, request, reply, body as Readable));
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

/** Seconds after which a caller may try again while the service prepares. */
const RETRY_SECONDS = 5;

/** While realm files are imported, health is answered and everything else refused. */
function refuseWhilePreparing(app: FastifyInstance, health: Pick<Health, 'isPreparing'>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!health.isPreparing() || /^\/health(\/|\?|$)/.test(request.raw.url ?? '')) return done();
    discardRest(request);
    reply
      .code(503)
      .headers({ ...securityHeaders(undefined), 'retry-after': RETRY_SECONDS, connection: 'close' })
      .send({
        error: 'temporarily_unavailable',
        error_description: 'The service imports realm files; try again later',
      });
  });
}

/** A process that ends keeps no connection for another request, so that none is on its way when the listener closes. */
export function leaveConnections(app: FastifyInstance, health: Pick<Health, 'isLeaving'>): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (health.isLeaving()) reply.header('connection', 'close');
    done();
  });
}

/** Why a path is refused before anything looks at it, in Keycloak's shape (facts §1, [26.5] and [26.6]). */
interface PathFault {
  error: 'missingNormalization' | 'invalidCharacter';
  error_description: string;
}

const suspicious = /\/\/|\/\.|\.\.|;|%(?:00|2e)|\\/i;

/** What is wrong with the raw path or query of a request, or undefined. */
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
