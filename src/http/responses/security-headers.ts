import type { FastifyReply } from 'fastify';
import type { RealmConfiguration } from '../../store/index.ts';
import { STATUS, statusClass } from './statuses.ts';

/** The security headers of every response: the name, the key in the realm's settings and the default value. */
const ALWAYS = [
  ['x-frame-options', 'xFrameOptions', 'SAMEORIGIN'],
  ['x-content-type-options', 'xContentTypeOptions', 'nosniff'],
  ['x-robots-tag', 'xRobotsTag', 'none'],
  ['strict-transport-security', 'strictTransportSecurity', 'max-age=31536000; includeSubDomains'],
  ['referrer-policy', 'referrerPolicy', 'no-referrer'],
] as const;

/**
 * The Content-Security-Policy of pages, of redirects and of 204 responses to forms. It replaces the realm's own
 * `contentSecurityPolicy`, which idkit stores but does not send (docs/keycloak/pages.md#content-security-policy).
 */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'self'; base-uri 'none'";

/** Allows visible ASCII and spaces, but no character that could end a header line. */
const safeValue = /^[\x20-\x7e]*$/;

type Headers = Readonly<Record<string, string>>;

const defaults: Headers = Object.fromEntries(ALWAYS.map(([name, , value]) => [name, value]));
const perRealm = new WeakMap<RealmConfiguration, Headers>();

/** Sets the headers that a realm's `browserSecurityHeaders` define, or the defaults for requests without a realm. */
export function setSecurityHeaders(reply: FastifyReply, configuration?: RealmConfiguration): FastifyReply {
  return reply.headers(securityHeaders(configuration));
}

function securityHeaders(configuration: RealmConfiguration | undefined): Headers {
  if (configuration === undefined) return defaults;
  let headers = perRealm.get(configuration);
  if (headers === undefined) {
    headers = computeHeaders(configuration.realm.settings.browserSecurityHeaders);
    perRealm.set(configuration, headers);
  }
  return headers;
}

/**
 * Returns the headers that a realm's `browserSecurityHeaders` define. Omits a header with an empty value, and uses the
 * default for an invalid value (docs/keycloak/errors.md#security-headers).
 */
function computeHeaders(own: Readonly<Record<string, string>>): Headers {
  const headers: Record<string, string> = {};
  for (const [name, key, standard] of ALWAYS) {
    const value = own[key] ?? standard;
    if (value === '') continue;
    headers[name] = safeValue.test(value) ? value : standard;
  }
  const reportOnly = own['contentSecurityPolicyReportOnly'];
  if (reportOnly && safeValue.test(reportOnly)) headers['content-security-policy-report-only'] = reportOnly;
  return headers;
}

/**
 * Adds the Content-Security-Policy to a page, a redirect or the 204 response to a form, unless the response already has
 * one.
 */
export function addPagePolicy(reply: FastifyReply, answersForm: boolean): void {
  if (reply.hasHeader('content-security-policy')) return;
  const status = reply.statusCode;
  const type = reply.getHeader('content-type');
  const page = typeof type === 'string' && type.startsWith('text/html');
  const redirect = reply.hasHeader('location') && statusClass(status) === 'REDIRECTION';
  if (page || redirect || (status === STATUS.noContent && answersForm))
    reply.header('content-security-policy', PAGE_POLICY);
}
