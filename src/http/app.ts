import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RealmConfiguration } from '../store/index.ts';
import { adminRoutes } from './admin/index.ts';
import { browserRoutes } from './browser/index.ts';
import { answerAwayDatabase, answerTransportFault, SERVER_FAULT } from './error-answers.ts';
import { sendErrorPage, wantsPage } from './error-page.ts';
import type { Health } from './health.ts';
import type { RequestHistogram, RouteTimes } from './metrics/request-histogram.ts';
import { newApp } from './new-app.ts';
import { answerNotFound } from './not-found.ts';
import { oidcRoutes } from './oidc/index.ts';
import {
  addRawParser,
  checkBodyBeforeReading,
  declaredLength,
  discardRest,
  LargeBodies,
  replaceMalformedType,
} from './request-body.ts';
import { findPathFault } from './request-path.ts';
import { rootRoutes } from './root-routes.ts';
import type { Services } from './route.ts';
import { addPagePolicy, securityHeaders } from './security-headers.ts';
import { addEveryUrl, findServed, METHODS, serveRow } from './serve-urls.ts';
import type { ServiceLog } from './service-log.ts';
import { addHealth, addMetrics, type ServiceFigures } from './service-routes.ts';
import type { TlsFiles } from './tls.ts';
import { UrlTable } from './url-table.ts';
import { joinUrls } from './urls.ts';
import { renderRefusal } from './wire-errors.ts';

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
  for (const entry of joinUrls(oidcRoutes, browserRoutes, adminRoutes, rootRoutes))
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

function addErrorHandler(app: FastifyInstance, log: ServiceLog): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = renderRefusal(error);
    if (refusal !== undefined) {
      discardRest(request);
      // What does not exist, or not now, is a page for a browser (facts §1).
      const { error: text, error_description: description } = Object(refusal.body) as {
        error?: unknown;
        error_description?: unknown;
      };
      if (refusal.status === 404 && typeof text === 'string' && wantsPage(request))
        return sendErrorPage(reply, 404, text);
      if (refusal.status === 503 && typeof description === 'string') {
        reply.headers(refusal.headers);
        if (wantsPage(request)) return sendErrorPage(reply, 503, description);
        if (request.url.startsWith('/admin/')) return reply.code(503).send({ errorMessage: description });
      }
      return reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
    }
    if (answerTransportFault(error, request, reply)) return;
    if (answerAwayDatabase(error, request, reply)) {
      log.error({ err: error }, 'a request could not be answered without the database');
      return;
    }
    answerBug(log, error, request, reply);
  });
}

/** Not a refusal and not the caller's fault: logged with its stack, and answered without it. */
export function answerBug(
  log: ServiceLog,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  log.error(
    { err: error, method: request.method, path: request.url.split('?', 1)[0] },
    'a request failed in a way that is a bug',
  );
  reply.code(500).send(SERVER_FAULT);
}
