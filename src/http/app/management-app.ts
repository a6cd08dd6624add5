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
  /** The setting `listen.managementHost`: a host name that the listener accepts in the Host header. */
  host: string;
}

/** Maximum size of a body in bytes. It is small, because no route of this app reads a body. */
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
 * Whether the Host header names this listener. The check prevents DNS rebinding, in which an attacker's host name
 * resolves to this machine, so that the attacker's page can read the responses. The browser then sends the attacker's
 * host name in the header. IP addresses and private names are accepted, because an attacker cannot own them. So are
 * requests without the header (HTTP/1.0), because all browsers send it.
 */
function isOwnName(header: string | undefined, own: string): boolean {
  if (header === undefined) return true;
  const name = header.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return isIP(name) !== 0 || name.toLowerCase() === own.toLowerCase() || PRIVATE_NAME.test(name);
}
