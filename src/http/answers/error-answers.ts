import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, IdkitError } from '../../core/index.ts';
import { BodyTooLarge, discardRest } from '../request/request-body.ts';
import type { ServiceLog } from '../url-table/route.ts';
import { renderRefusal } from './wire-errors.ts';

/** Keycloak's answer to a fault of its own (facts §1). */
export const SERVER_FAULT = {
  error: 'unknown_error',
  error_description: 'For more on this error consult the server log.',
} as const;

/**
 * How a database fails that may be there again later, or for another replica: away, full, held by a restore, closed to
 * this role; or others changed what was to be changed, again and again.
 */
const AWAY_CODES: readonly ErrorCode[] = [
  'IDKIT_UNREACHABLE',
  'IDKIT_NO_SPACE',
  'IDKIT_LOCKED',
  'IDKIT_CREDENTIALS',
  'IDKIT_NOT_FOUND',
  'IDKIT_CHANGED',
];

/** Whether it is the database that kept something from being done. */
export function isAwayDatabase(error: unknown): boolean {
  return error instanceof IdkitError && AWAY_CODES.includes(error.code);
}

/**
 * Answers a request that the database kept from being answered: 503, so that a proxy or client tries again, elsewhere
 * or later; the error is RFC 6749's (§4.1.2.1). Anything else is not answered.
 */
export function answerAwayDatabase(error: unknown, request: FastifyRequest, reply: FastifyReply): boolean {
  if (!isAwayDatabase(error)) return false;
  reply.header('retry-after', '1');
  if (wantsPage(request)) sendErrorPage(reply, 503, statusText(503));
  else if (request.url.startsWith('/admin/')) reply.code(503).send({ errorMessage: AWAY });
  else reply.code(503).send({ error: 'temporarily_unavailable', error_description: AWAY });
  return true;
}

const AWAY = 'The service is not available for the moment.';

/** Statuses of the HTTP layer with the words of Keycloak's global handler. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
};

/** `HTTP 404 Not Found`. */
export function statusText(status: number): string {
  return `HTTP ${status} ${REASONS[status] ?? 'Error'}`;
}

/** Answers in the shape of Keycloak's global handler, or with a page where a browser asks (facts §1). */
export function sendGlobalError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  error: string,
): FastifyReply {
  if (wantsPage(request)) return sendErrorPage(reply, status, error);
  return reply.code(status).send({ error });
}

/**
 * Answers what went wrong below the handlers in the shape that the path's interface promises: OpenID Connect
 * `error` and `error_description`, administration `errorMessage`, everything else `error`.
 */
function sendInterfaceError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
): FastifyReply {
  const path = request.url;
  if (path.startsWith('/admin/')) return reply.code(status).send({ errorMessage: message });
  if (path.startsWith('/realms/'))
    return reply.code(status).send({ error: 'invalid_request', error_description: message });
  return reply.code(status).send({ error: message });
}

/**
 * Answers a fault of the HTTP layer itself (too large, cut off, malformed), and says whether it was one.
 * Anything else is not answered.
 */
export function answerTransportFault(error: unknown, request: FastifyRequest, reply: FastifyReply): boolean {
  if (error instanceof BodyTooLarge || codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    reply.removeHeader('connection');
    discardRest(request);
    const limit = error instanceof BodyTooLarge ? error.message : 'Request body is too large';
    sendInterfaceError(request, reply, 413, limit);
    return true;
  }
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  if (codeOf(error) !== undefined && typeof status === 'number' && status >= 400 && status < 500) {
    const what = codeOf(error) === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' ? 'Request body is cut off' : '';
    sendInterfaceError(request, reply, status, what || statusText(status));
    return true;
  }
  return false;
}

/** Fastify's own code, or that of a connection that broke while its body was read. */
function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && (code.startsWith('FST_') || code === 'ECONNRESET') ? code : undefined;
}

/** Whether a caller prefers a page to JSON, as a browser's navigation does. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept;
  if (accept === undefined || !accept.includes('text/html')) return false;
  const json = accept.indexOf('application/json');
  return json < 0 || accept.indexOf('text/html') < json;
}

/**
 * A page that says what is wrong, in the frame of all pages. Answers later than it returns, as Fastify allows a
 * handler that returns the reply: the pages are loaded when one is first asked for.
 */
export function sendErrorPage(reply: FastifyReply, status: number, message: string): FastifyReply {
  reply.code(status).header('content-type', 'text/html;charset=utf-8');
  import('../pages/index.ts')
    .then(({ renderPlainError }) => {
      const page = renderPlainError(message, { basePath: pathToRoot(reply.request.url) });
      reply.header('content-security-policy', page.policy).send(page.markup);
    })
    .catch((error: unknown) => reply.send(error));
  return reply;
}

/** From a request's path up to the base URL, which may lie below a path that a proxy cuts off. */
function pathToRoot(url: string): string {
  const slashes = url.split('?', 1)[0]!.split('/').length - 1;
  return `.${'/..'.repeat(Math.max(0, slashes - 1))}`;
}

export function addErrorHandler(app: FastifyInstance, log: ServiceLog): void {
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
