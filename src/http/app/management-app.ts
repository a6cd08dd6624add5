import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addHealth, addMetrics, type ServiceFigures } from '../monitoring/monitoring-routes.ts';
import { addRawParser } from '../request/request-body.ts';
import { sendGlobalError, sendServerFault, sendTransportFault } from '../responses/error-responses.ts';
import { setSecurityHeaders } from '../responses/security-headers.ts';
import { STATUS } from '../responses/statuses.ts';
import type { ServiceLog } from '../url-table/route.ts';
import { addCatchAll, findRoute, METHODS, UrlTable } from '../url-table/url-table.ts';
import { newApp } from './new-app.ts';
import { closeConnectionsAtEnd } from './public-app.ts';
import type { TlsFiles } from './tls.ts';

/** Options of the app of the management listener. */
export interface ManagementOptions extends ServiceFigures {
  log: ServiceLog;
  tls?: TlsFiles | undefined;
  /** `listen.managementHost`: a host name that requests may use. */
  host: string;
}

/** No route of this app reads a body. */
const BODY_BYTES = 1024;

/** Host names that a stranger cannot register: those of this machine (RFC 6761 §6.3) and of private networks. */
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:localhost|internal))$/i;

/** Builds the app of the management listener: metrics and detailed health. */
export function buildManagementApp(options: ManagementOptions): FastifyInstance {
  const app = newApp({ tls: options.tls, trustedProxies: [] });
  addRawParser(app);
  const table = new UrlTable();
  addHealth(table, options.health, 'checks');
  addMetrics(table, options.exposition);
  app.addHook('onRequest', (request, reply, done) => {
    setSecurityHeaders(reply);
    if (!isOwnName(request.headers.host, options.host)) {
      sendGlobalError(request, reply, STATUS.misdirectedRequest, FOREIGN_NAME);
      return;
    }
    findRoute(table, request);
    done();
  });
  const notFound = (request: FastifyRequest, reply: FastifyReply) =>
    sendGlobalError(request, reply, STATUS.notFound);
  app.setNotFoundHandler(notFound);
  app.setErrorHandler((error, request, reply) => {
    if (!sendTransportFault(error, request, reply)) sendServerFault(options.log, error, request, reply);
  });
  closeConnectionsAtEnd(app, options.health);
  addCatchAll(app, ['/*'], METHODS, BODY_BYTES, notFound);
  return app;
}

const FOREIGN_NAME =
  'the management listener does not accept this host name: use its IP address, or set listen.managementHost to the name';

/**
 * Whether the Host header names this listener. This prevents DNS rebinding: an attacker points a host name to this
 * machine, and a page under that name then reads the responses. The browser sends that name as the Host header. An
 * attacker cannot do this with addresses and private names. All browsers send the header, so a request without it
 * (HTTP/1.0) is accepted.
 */
function isOwnName(header: string | undefined, own: string): boolean {
  if (header === undefined) return true;
  const name = header.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return isIP(name) !== 0 || name.toLowerCase() === own.toLowerCase() || PRIVATE_NAME.test(name);
}
