import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { sendGlobalError } from '../responses/error-responses.ts';
import { setSecurityHeaders } from '../responses/security-headers.ts';
import { STATUS, statusText } from '../responses/statuses.ts';
import type { TlsFiles } from './tls.ts';

/** Timeouts in milliseconds: for a whole request, for its headers, and for an idle connection. */
const TIMES = { request: 120_000, headers: 30_000, idle: 75_000 } as const;
/** If a caller reads nothing of a large response for this many milliseconds, its connection is closed. */
const STOPPED_MS = 60_000;
/** A response with fewer bytes fits into the buffers of a connection. */
const LARGE_BYTES = 64 * 1024;
/** Maximum size in bytes of all header lines of a request. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Creates an app without routes. It has the limits of the server, and the responses to requests that Fastify itself
 * rejects.
 */
export function newApp(options: {
  tls?: TlsFiles | undefined;
  /** Addresses or CIDR blocks of the proxies whose X-Forwarded-For and X-Forwarded-Proto the app trusts. */
  trustedProxies: readonly string[];
}): FastifyInstance {
  const server = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: TIMES.headers };
  const common: FastifyServerOptions = {
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    requestTimeout: TIMES.request,
    keepAliveTimeout: TIMES.idle,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: sendClientError,
    // No route has a JSON schema. Without its schema compilers Fastify loads only half as much code.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    routerOptions: { ignoreTrailingSlash: true },
    frameworkErrors: (_error, request, reply) => {
      setSecurityHeaders(reply);
      sendGlobalError(request, reply, STATUS.badRequest);
    },
  };
  // Only the type of the server differs between http and https, and no code here uses that type.
  const own = options.tls ? { https: { ...server, ...options.tls } } : { http: server };
  const app = Fastify({ ...common, ...own } as FastifyServerOptions);
  app.decorateRequest('served', null);
  cutStoppedReaders(app);
  return app;
}

/**
 * Closes the connection of a caller that stops reading a large response, because the response is held in memory. A slow
 * caller may continue.
 */
export function cutStoppedReaders(app: FastifyInstance, milliseconds = STOPPED_MS): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isSmall = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length < LARGE_BYTES;
    if (payload && !isSmall) reply.raw.setTimeout(milliseconds, () => reply.raw.destroy());
    done(null, payload);
  });
}

function noSchemas(): never {
  throw new Error('a route has a schema, but the app has no schema compilers');
}

/**
 * Responds to bytes that are not an HTTP request, and to headers that are too large or arrive too slowly. The response
 * has the same JSON shape as other errors, and the connection is closed after the response.
 */
function sendClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) {
    const text = statusText(CLIENT_ERRORS[error.code ?? ''] ?? STATUS.badRequest);
    const body = JSON.stringify({ error: text });
    socket.write(
      `${text.replace('HTTP', 'HTTP/1.1')}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

const CLIENT_ERRORS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: STATUS.headersTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: STATUS.requestTimeout,
};
