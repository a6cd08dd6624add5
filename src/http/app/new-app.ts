import type { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { sendGlobalError, statusText } from '../answers/error-answers.ts';
import { securityHeaders } from '../answers/security-headers.ts';
import type { TlsFiles } from './tls.ts';

/** Milliseconds. A request must arrive within the first; an idle connection lives for the last. */
const TIMES = { request: 120_000, headers: 30_000, idle: 75_000 } as const;
/** Bytes of all header lines of one request. */
const MAX_HEADER_BYTES = 16 * 1024;

/** An app without a row: the server's limits, and what answers a request that Fastify itself gives up. */
export function newApp(options: {
  tls?: TlsFiles | undefined;
  /** Addresses or CIDR blocks from which X-Forwarded-For and -Proto are believed. */
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

/**
 * Answers a connection whose bytes are no HTTP request, or whose headers are too large or too slow, in the same
 * shape as every other fault, and closes it.
 */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  if (socket.writable) {
    const text = statusText(status);
    const body = JSON.stringify({ error: text });
    socket.write(
      `${text.replace('HTTP', 'HTTP/1.1')}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
