import type { FastifyReply } from 'fastify';
import type { RealmConfiguration } from '../../store/index.ts';

/** Header name to realm key and default (facts §12). Sent with every answer. */
const ALWAYS = [
  ['x-frame-options', 'xFrameOptions', 'SAMEORIGIN'],
  ['x-content-type-options', 'xContentTypeOptions', 'nosniff'],
  ['x-robots-tag', 'xRobotsTag', 'none'],
  ['strict-transport-security', 'strictTransportSecurity', 'max-age=31536000; includeSubDomains'],
  ['referrer-policy', 'referrerPolicy', 'no-referrer'],
] as const;

/**
 * The policy of pages, of redirects and of 204 answers to forms (contract §5); a realm's own
 * `contentSecurityPolicy` is kept and not sent.
 */
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'self'; base-uri 'none'";

/** Visible ASCII and blanks: nothing that could end a header line. */
const safeValue = /^[\x20-\x7e]*$/;

type Headers = Readonly<Record<string, string>>;

const defaults: Headers = Object.fromEntries(ALWAYS.map(([name, , value]) => [name, value]));
const perRealm = new WeakMap<RealmConfiguration, Headers>();

/** The headers that a realm's `browserSecurityHeaders` ask for; an empty value drops the header. */
export function securityHeaders(configuration: RealmConfiguration | undefined): Headers {
  if (configuration === undefined) return defaults;
  let headers = perRealm.get(configuration);
  if (headers === undefined) {
    headers = computeHeaders(configuration.realm.settings.browserSecurityHeaders);
    perRealm.set(configuration, headers);
  }
  return headers;
}

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

/** Adds the pages' policy where the answer is a page, a redirect or the 204 of a form and has none of its own. */
export function addPagePolicy(reply: FastifyReply, answersForm: boolean): void {
  if (reply.hasHeader('content-security-policy')) return;
  const status = reply.statusCode;
  const type = reply.getHeader('content-type');
  const page = typeof type === 'string' && type.startsWith('text/html');
  if (page || (status >= 300 && status < 400) || (status === 204 && answersForm))
    reply.header('content-security-policy', PAGE_POLICY);
}
