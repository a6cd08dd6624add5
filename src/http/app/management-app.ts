import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerBug, answerTransportFault, sendGlobalError, statusText } from '../answers/error-answers.ts';
import { securityHeaders } from '../answers/security-headers.ts';
import { addHealth, addMetrics, type ServiceFigures } from '../monitoring/monitoring-routes.ts';
import { addRawParser } from '../request/request-body.ts';
import type { ServiceLog } from '../url-table/route.ts';
import { addEveryUrl, findServed, METHODS, UrlTable } from '../url-table/url-table.ts';
import { newApp } from './new-app.ts';
import { leaveConnections } from './public-app.ts';
import type { TlsFiles } from './tls.ts';

/** How the app of the management listener is built. */
export interface ManagementOptions extends ServiceFigures {
  log: ServiceLog;
  tls?: TlsFiles | undefined;
  /** `listen.managementHost`: a name that requests may ask it by. */
  host: string;
}

/** Nothing reads a body here. */
const BODY_BYTES = 1024;

/** Names that no stranger can lead to an address: of this machine (RFC 6761 §6.3) and of private networks. */
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:localhost|internal))$/i;

/** The app of the management listener: metrics and detailed health, nothing else. */
export function buildManagementApp(options: ManagementOptions): FastifyInstance {
  const app = newApp({ tls: options.tls, trustedProxies: [] });
  addRawParser(app);
  const table = new UrlTable();
  addHealth(table, options.health, 'checks');
  addMetrics(table, options.exposition);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders(undefined) as Record<string, string>);
    if (!isOwnName(request.headers.host, options.host)) {
      sendGlobalError(request, reply, 421, FOREIGN_NAME);
      return;
    }
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
  addEveryUrl(app, ['/*'], METHODS, BODY_BYTES, notFound);
  return app;
}

const FOREIGN_NAME =
  'the management listener does not answer to this host name: use its IP address, or set listen.managementHost to the name';

/**
 * Whether a Host header names this listener. The page of a stranger may point a name of its own to this machine and
 * read what answers there (DNS rebinding); the browser then sends that name. Addresses, and names that only a machine
 * or its private network can give, cannot be taken over like this. Every browser sends the header; a client without it (HTTP/1.0) is answered.
 */
function isOwnName(header: string | undefined, own: string): boolean {
  if (header === undefined) return true;
  const name = header.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return isIP(name) !== 0 || name.toLowerCase() === own.toLowerCase() || PRIVATE_NAME.test(name);
}
