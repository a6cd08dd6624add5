import type { AdminRefusalKind } from '../../admin/index.ts';
import type { PageAnswerName } from '../../browser/index.ts';

/**
 * Every status that a handler responds with, by its name in RFC 9110 §15. The statuses of the protocol's refusals are
 * in the table of wire-errors.ts. The architecture test checks that no other file contains a status as a number.
 */
export const STATUS = {
  ok: 200,
  created: 201,
  noContent: 204,
  found: 302,
  badRequest: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  contentTooLarge: 413,
  unsupportedMediaType: 415,
  misdirectedRequest: 421,
  headersTooLarge: 431,
  serverError: 500,
  notImplemented: 501,
  serviceUnavailable: 503,
} as const;

/** The status of each refusal of the administrative API. */
export const ADMIN_STATUS: Readonly<Record<AdminRefusalKind, number>> = {
  'bad-request': STATUS.badRequest,
  unauthorized: STATUS.unauthorized,
  forbidden: STATUS.forbidden,
  'not-found': STATUS.notFound,
  conflict: STATUS.conflict,
  'unsupported-media': STATUS.unsupportedMediaType,
  'not-built': STATUS.notImplemented,
};

/**
 * The status for each of the reasons for which src/browser shows a page
 * (docs/keycloak/login.md#errors-shown-as-a-page).
 */
export const PAGE_STATUS: Readonly<Record<PageAnswerName, number>> = {
  shown: STATUS.ok,
  'login-error': STATUS.badRequest,
  expired: STATUS.badRequest,
  'https-required': STATUS.forbidden,
  'bearer-only-client': STATUS.forbidden,
  'account-form-outdated': STATUS.badRequest,
  'account-denied': STATUS.forbidden,
  'account-off': STATUS.notFound,
};

/** The reason phrases of Keycloak's global error handler. */
const REASONS: Readonly<Record<number, string>> = {
  [STATUS.badRequest]: 'Bad Request',
  [STATUS.unauthorized]: 'Unauthorized',
  [STATUS.forbidden]: 'Forbidden',
  [STATUS.notFound]: 'Not Found',
  [STATUS.methodNotAllowed]: 'Method Not Allowed',
  [STATUS.requestTimeout]: 'Request Timeout',
  [STATUS.contentTooLarge]: 'Request Entity Too Large',
  [STATUS.unsupportedMediaType]: 'Unsupported Media Type',
  [STATUS.headersTooLarge]: 'Request Header Fields Too Large',
  [STATUS.serviceUnavailable]: 'Service Unavailable',
};

/** Returns the text of Keycloak's global error handler for a status, for example `HTTP 404 Not Found`. */
export function statusText(status: number): string {
  return `HTTP ${status} ${REASONS[status] ?? 'Error'}`;
}

/** The class of a status (RFC 9110 §15), as Micrometer names it in the label `outcome`. */
export function statusClass(
  status: number,
): 'INFORMATIONAL' | 'SUCCESS' | 'REDIRECTION' | 'CLIENT_ERROR' | 'SERVER_ERROR' {
  if (status < 200) return 'INFORMATIONAL';
  if (status < 300) return 'SUCCESS';
  if (status < 400) return 'REDIRECTION';
  return status < 500 ? 'CLIENT_ERROR' : 'SERVER_ERROR';
}
