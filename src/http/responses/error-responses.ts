import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredLocale, type WayOn } from '../../browser/index.ts';
import { type ErrorCode, IdkitError } from '../../core/index.ts';
import { BodyTooLarge, discardRest } from '../request/request-body.ts';
import type { ServiceLog } from '../url-table/route.ts';
import { loadPages } from './load-pages.ts';
import { STATUS, statusClass, statusText } from './statuses.ts';
import { renderRefusal } from './wire-errors.ts';

/** The body with which Keycloak responds to an internal error (docs/keycloak/errors.md#server-faults). */
const SERVER_FAULT = {
  error: 'unknown_error',
  error_description: 'For more on this error consult the server log.',
} as const;

/**
 * Failures of the database that may be temporary or affect only this replica. The database is unreachable, full, locked
 * by a restore or closed to this role, or every attempt conflicted with other changes.
 */
const TEMPORARY_CODES: readonly ErrorCode[] = [
  'IDKIT_UNREACHABLE',
  'IDKIT_NO_SPACE',
  'IDKIT_LOCKED',
  'IDKIT_CREDENTIALS',
  'IDKIT_NOT_FOUND',
  'IDKIT_CHANGED',
];

const UNAVAILABLE = 'The service is temporarily unavailable.';

/** Whether the request failed because the database is unavailable. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof IdkitError && TEMPORARY_CODES.includes(error.code);
}

/** Whether a caller prefers a page to JSON, as a browser does when it navigates. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept;
  if (accept === undefined || !accept.includes('text/html')) return false;
  const json = accept.indexOf('application/json');
  return json < 0 || accept.indexOf('text/html') < json;
}

/** The link of an error page that opens the same page again. */
const RETRY: readonly WayOn[] = [{ way: 'retry', url: '' }];

/**
 * Sends an error page in the browser's language. This function returns before it sends the page, because the code of the
 * pages is loaded on first use. Fastify allows that if the handler returns the reply.
 *
 * @param shown `detail`: what the administrator needs to know; `ways`: links that lead on, relative to the request.
 *   Default: the same page again.
 */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  { detail, ways = RETRY }: { detail?: string; ways?: readonly WayOn[] | undefined } = {},
): FastifyReply {
  reply.code(status).header('content-type', 'text/html;charset=utf-8');
  const locale = preferredLocale(request.headers['accept-language']);
  loadPages(locale)
    .then(({ renderPlainError }) => {
      const page = renderPlainError(status, { locale, ways, detail }, { basePath: pathToRoot(request.url) });
      reply.header('content-security-policy', page.policy).send(page.markup);
    })
    .catch((error: unknown) => reply.send(error));
  return reply;
}

/**
 * Returns the relative path from the URL of a request to the base URL. It is relative, because a proxy may strip a
 * prefix of the path.
 */
export function pathToRoot(url: string): string {
  const [path = ''] = url.split('?', 1);
  const slashes = path.split('/').length - 1;
  return `.${'/..'.repeat(Math.max(0, slashes - 1))}`;
}

/**
 * Sends an error as Keycloak's global handler does, or as a page if the caller prefers one
 * (docs/keycloak/errors.md#error-shapes).
 */
export function sendGlobalError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  error = statusText(status),
  ways?: readonly WayOn[],
): FastifyReply {
  if (wantsPage(request)) return sendErrorPage(request, reply, status, { detail: error, ways });
  return reply.code(status).send({ error });
}

/** Adds the handler for all errors that routes throw. */
export function addErrorHandler(app: FastifyInstance, log: ServiceLog): void {
  app.setErrorHandler((error, request, reply) => {
    if (sendRefusal(error, request, reply) || sendTransportFault(error, request, reply)) return;
    if (sendUnavailable(error, request, reply))
      log.error({ err: error }, 'a request failed because the database is unavailable');
    else sendServerFault(log, error, request, reply);
  });
}

/** Sends the response to a refusal. For any other error, returns false and sends nothing. */
function sendRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): boolean {
  const refusal = renderRefusal(error);
  if (refusal === undefined) return false;
  const { status, headers, body } = refusal;
  discardRest(request);
  const { error: text, error_description: description }: Record<string, unknown> = Object(body);
  // Browsers get a page for 404 and for 503 (docs/keycloak/errors.md#unknown-realms-and-paths).
  if (status === STATUS.notFound && typeof text === 'string' && wantsPage(request)) {
    sendErrorPage(request, reply, status, { detail: text });
    return true;
  }
  reply.code(status).headers(headers);
  if (status !== STATUS.serviceUnavailable || typeof description !== 'string') reply.send(body);
  else if (wantsPage(request)) sendErrorPage(request, reply, status, { detail: description });
  else reply.send(isAdministrative(request) ? { errorMessage: description } : body);
  return true;
}

/**
 * Responds to an error of the HTTP layer itself: a body that is too large, incomplete or malformed.
 *
 * @returns false for any other error, and then sends nothing
 */
export function sendTransportFault(error: unknown, request: FastifyRequest, reply: FastifyReply): boolean {
  if (error instanceof BodyTooLarge || codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    reply.removeHeader('connection');
    discardRest(request);
    const limit = error instanceof BodyTooLarge ? error.message : 'Request body is too large';
    sendInterfaceError(request, reply, STATUS.contentTooLarge, limit);
    return true;
  }
  const { statusCode }: { statusCode?: unknown } = Object(error);
  if (codeOf(error) === undefined || typeof statusCode !== 'number') return false;
  if (statusClass(statusCode) !== 'CLIENT_ERROR') return false;
  const cutOff = codeOf(error) === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH';
  sendInterfaceError(
    request,
    reply,
    statusCode,
    cutOff ? 'Request body is truncated' : statusText(statusCode),
  );
  return true;
}

/**
 * Returns the code of an error that Fastify threw, or that occurred because the connection was lost while a body was
 * being read.
 */
function codeOf(error: unknown): string | undefined {
  const { code }: { code?: unknown } = Object(error);
  return typeof code === 'string' && (code.startsWith('FST_') || code === 'ECONNRESET') ? code : undefined;
}

/**
 * Sends an error in the shape of the interface that the path belongs to. The body has `error` and `error_description`
 * for OpenID Connect, `errorMessage` for the administrative API, and only `error` for other paths.
 */
function sendInterfaceError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  message: string,
): FastifyReply {
  if (isAdministrative(request)) return reply.code(status).send({ errorMessage: message });
  if (request.url.startsWith('/realms/'))
    return reply.code(status).send({ error: 'invalid_request', error_description: message });
  return reply.code(status).send({ error: message });
}

/**
 * Responds with 503 if the database is unavailable, so that a proxy or client retries later or elsewhere. The error
 * code is that of RFC 6749 §4.1.2.1.
 *
 * @returns false for any other error, and then sends nothing
 */
function sendUnavailable(error: unknown, request: FastifyRequest, reply: FastifyReply): boolean {
  if (!isDatabaseUnavailable(error)) return false;
  const status = STATUS.serviceUnavailable;
  reply.header('retry-after', '1');
  if (wantsPage(request)) sendErrorPage(request, reply, status);
  else if (isAdministrative(request)) reply.code(status).send({ errorMessage: UNAVAILABLE });
  else reply.code(status).send({ error: 'temporarily_unavailable', error_description: UNAVAILABLE });
  return true;
}

function isAdministrative(request: FastifyRequest): boolean {
  return request.url.startsWith('/admin/');
}

/**
 * Logs a bug with its stack trace, and responds with 500, as a page if the caller prefers one. The response does not
 * contain the stack trace.
 */
export function sendServerFault(
  log: ServiceLog,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const [path] = request.url.split('?', 1);
  log.error({ err: error, method: request.method, path }, 'a request failed because of a bug');
  if (wantsPage(request)) sendErrorPage(request, reply, STATUS.serverError);
  else reply.code(STATUS.serverError).send(SERVER_FAULT);
}
