import {
  AdminRefusal,
  type AdminRefusalKind,
  ClientUriFault,
  RepresentationFault,
} from '../../admin/index.ts';
import type { PageAnswerName } from '../../browser/index.ts';
import { HashingBusy } from '../../crypto/index.ts';
import { Refusal, type RefusalCase } from '../../protocol/index.ts';
import { corsHeaders } from './cors.ts';

/** How one case of a refusal looks on the wire. */
export interface WireError {
  status: number;
  /** The OAuth error code, or the whole text where there is no description. */
  error: string;
  /** Absent: the body has no `error_description` unless the refusal brings one. */
  description?: string;
  /** `bearer`: an empty body, the error in `WWW-Authenticate` (RFC 6750 §3). */
  shape?: 'bearer';
  headers?: Readonly<Record<string, string>>;
  /** Where it is said or was seen. */
  source: string;
}

const credentials = 'Invalid client or Invalid client credentials';

/** Every refusal of the protocol. The only place that knows HTTP statuses. */
export const WIRE_ERRORS: Readonly<Record<RefusalCase, WireError>> = {
  'realm-not-found': { status: 404, error: 'Realm does not exist', source: 'facts §1' },
  'protocol-not-found': { status: 404, error: 'Protocol not found', source: 'facts §1' },
  'https-required': {
    status: 403,
    error: 'invalid_request',
    description: 'HTTPS required',
    source: 'facts §3.1 step 1',
  },
  'realm-not-enabled': {
    status: 403,
    error: 'access_denied',
    description: 'Realm not enabled',
    source: 'facts §3.1 step 2, for introspect and revoke',
  },
  'realm-disabled': {
    status: 400,
    error: 'realm_disabled',
    description: 'Realm is disabled',
    source: 'contract §5; spec, "Errors"',
  },
  'client-disabled': {
    status: 400,
    error: 'client_disabled',
    description: 'Client is disabled',
    source: 'contract §5; spec, "Errors"',
  },
  'invalid-origin': { status: 403, error: 'Invalid origin', source: 'observed cors/token-foreign' },
  'malformed-form': { status: 400, error: 'invalid_request', source: 'contract §5' },
  'duplicated-parameter': {
    status: 400,
    error: 'invalid_request',
    description: 'duplicated parameter',
    source: 'facts §3.1 step 6',
  },
  'missing-grant-type': {
    status: 400,
    error: 'invalid_request',
    description: 'Missing form parameter: grant_type',
    source: 'facts §3.1 step 3',
  },
  'unsupported-grant-type': {
    status: 400,
    error: 'unsupported_grant_type',
    description: 'Unsupported grant_type',
    source: 'facts §3.1 step 4',
  },
  'dpop-refused': {
    status: 400,
    error: 'invalid_request',
    description: 'DPoP header verification failure',
    source: 'observed with Keycloak 26.7.3; facts §3.1 step 7',
  },
  'no-signing-key': {
    status: 500,
    error: 'server_error',
    description: 'The realm has no active key for this signature algorithm',
    source: 'RFC 6749 §4.1.2.1',
  },
  'not-built-yet': { status: 501, error: 'not_implemented', source: 'RFC 9110 §15.6.2' },
  'service-busy': {
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The service has too much to do at the moment. Try again in a few seconds.',
    headers: { 'retry-after': '2' },
    source: 'RFC 6749 §4.1.2.1, RFC 9110 §15.6.4',
  },
  'form-too-large': { status: 413, error: 'invalid_request', source: 'RFC 9110 §15.5.14' },
  'parameter-too-long': { status: 400, error: 'invalid_request', source: 'Keycloak, TokenEndpoint' },

  'client-unknown': { status: 401, error: 'invalid_client', description: credentials, source: 'facts §2' },
  'client-credentials-wrong': {
    status: 401,
    error: 'unauthorized_client',
    description: credentials,
    source: 'facts §2',
  },
  'client-assertion-refused': {
    status: 400,
    error: 'invalid_client',
    description: 'Parameter client_assertion_type is missing',
    source: 'facts §2',
  },
  'client-assertion-signature': {
    status: 400,
    error: 'unauthorized_client',
    description:
      'Client authentication with client secret signed JWT failed: Signature on JWT token by client secret  failed validation',
    source: 'facts §2',
  },
  'client-protocol-wrong': {
    status: 400,
    error: 'invalid_client',
    description: 'Wrong client protocol.',
    source: 'facts §2',
  },
  'client-bearer-only': {
    status: 400,
    error: 'invalid_client',
    description: 'Bearer-only not allowed',
    source: 'facts §2',
  },
  'client-method-unsupported': {
    status: 400,
    error: 'invalid_client',
    description: 'The authentication method of this client is not built yet',
    source: 'RFC 6749 §5.2, "unsupported authentication method"',
  },

  'invalid-scope': { status: 400, error: 'invalid_scope', source: 'facts §3.4 row 2, §3.5, §3.6' },
  'offline-not-allowed': {
    status: 400,
    error: 'not_allowed',
    description: 'Offline tokens not allowed for the user or client',
    source: 'facts §4.1',
  },

  'grant-refused': { status: 400, error: 'invalid_grant', source: 'facts §3.3, §3.7' },
  'exchange-refused': {
    status: 400,
    error: 'invalid_request',
    description: 'Standard token exchange is not enabled for the requested client',
    source: 'observed further-grants/exchange-off',
  },
  'client-not-allowed': { status: 400, error: 'unauthorized_client', source: 'facts §3.6' },
  'consent-required': {
    status: 400,
    error: 'invalid_client',
    description: 'Client requires user consent',
    source: 'facts §3.6',
  },
  'consent-withdrawn': {
    status: 400,
    error: 'invalid_scope',
    description: 'Client no longer has requested consent from user',
    source: 'facts §3.4 row 16',
  },

  'service-account-not-enabled': { status: 401, error: 'unauthorized_client', source: 'facts §3.5' },
  'service-account-unusable': { status: 401, error: 'invalid_request', source: 'facts §3.5' },

  'missing-username': {
    status: 401,
    error: 'invalid_request',
    description: 'Missing parameter: username',
    source: 'facts §3.6',
  },
  'user-credentials-wrong': {
    status: 400,
    error: 'invalid_grant',
    description: 'Invalid user credentials',
    source: 'facts §3.6',
  },
  'account-disabled': {
    status: 400,
    error: 'invalid_grant',
    description: 'Account disabled',
    source: 'facts §3.6',
  },
  'account-not-set-up': {
    status: 400,
    error: 'invalid_grant',
    description: 'Account is not fully set up',
    source: 'facts §3.6',
  },
  'login-refused': { status: 400, error: 'invalid_grant', source: 'contract §5, "refuses logins"' },

  'missing-code': {
    status: 400,
    error: 'invalid_request',
    description: 'Missing parameter: code',
    source: 'facts §3.3',
  },
  'code-refused': { status: 400, error: 'invalid_grant', source: 'facts §3.3' },

  'missing-refresh-token': {
    status: 400,
    error: 'invalid_request',
    description: 'No refresh token',
    source: 'facts §3.4 row 1',
  },
  'refresh-token-refused': { status: 400, error: 'invalid_grant', source: 'facts §3.4 rows 3 to 18, §5.2' },

  'revoke-missing-token': {
    status: 400,
    error: 'invalid_request',
    description: 'Token not provided',
    source: 'facts §5.1',
  },
  'revoke-invalid-token': {
    status: 200,
    error: 'invalid_token',
    description: 'Invalid token',
    source: 'facts §5.1; RFC 7009 §2.2',
  },
  'revoke-unsupported-type': {
    status: 400,
    error: 'unsupported_token_type',
    description: 'Unsupported token type',
    source: 'facts §5.1',
  },
  'revoke-other-client': {
    status: 400,
    error: 'invalid_request',
    description: 'Unmatching clients',
    source: 'facts §5.1',
  },

  'introspect-client-unknown': {
    status: 401,
    error: 'invalid_client',
    description: credentials,
    source: 'facts §5.4',
  },
  'introspect-client-wrong': {
    status: 401,
    error: 'invalid_client',
    description: 'Client authentication failed.',
    source: 'facts §5.4',
  },
  'introspect-public-client': {
    status: 403,
    error: 'invalid_request',
    description: 'Client not allowed.',
    source: 'facts §5.4',
  },
  'introspect-missing-token': {
    status: 400,
    error: 'invalid_request',
    description: 'Token not provided.',
    source: 'facts §5.4',
  },
  'introspect-unsupported-type': {
    status: 400,
    error: 'invalid_request',
    description: 'Unsupported token type.',
    source: 'facts §5.4',
  },

  'userinfo-missing-token': { status: 401, error: '', shape: 'bearer', source: 'facts §5.5' },
  'userinfo-invalid-token': { status: 401, error: 'invalid_token', shape: 'bearer', source: 'facts §5.5' },
  'userinfo-scope': {
    status: 403,
    error: 'insufficient_scope',
    description: 'Missing openid scope',
    shape: 'bearer',
    source: 'facts §5.5',
  },
  'userinfo-doubled': {
    status: 400,
    error: 'invalid_request',
    description: 'More than one method used for including an access token',
    shape: 'bearer',
    source: 'facts §5.5',
  },

  'account-off': { status: 404, error: 'HTTP 404 Not Found', source: 'Keycloak, AccountLoader' },
  'account-unauthorized': {
    status: 401,
    error: 'HTTP 401 Unauthorized',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    source: 'Keycloak, AccountRestService; spec, "Errors"',
  },
  'account-forbidden': {
    status: 403,
    error: 'HTTP 403 Forbidden',
    source: 'Keycloak, AccountRestService',
  },
};

/** The status of every page that the browser's rules answer with, by the name of the answer. */
export const PAGE_STATUSES: Readonly<Record<PageAnswerName, { status: number; source: string }>> = {
  shown: { status: 200, source: 'RFC 9110 §15.3.1' },
  'login-error': { status: 400, source: 'docs/keycloak/login.md#errors-shown-as-a-page' },
  expired: { status: 400, source: 'docs/keycloak/login.md#errors-shown-as-a-page' },
  'https-required': { status: 403, source: 'docs/keycloak/login.md#errors-shown-as-a-page' },
  'bearer-only-client': { status: 403, source: 'docs/keycloak/login.md#errors-shown-as-a-page' },
  'account-form-outdated': { status: 400, source: 'RFC 9110 §15.5.1' },
  'account-denied': { status: 403, source: 'RFC 9110 §15.5.4' },
  'account-off': { status: 404, source: 'docs/keycloak/pages.md#account' },
};

/** A refusal as status, headers and body; undefined for anything that is no refusal. */
export function renderRefusal(
  error: unknown,
): { status: number; headers: Record<string, string>; body: unknown } | undefined {
  if (error instanceof HashingBusy) return renderRefusal(new Refusal('service-busy'));
  if (!(error instanceof Refusal)) return renderAdminError(error);
  const row = WIRE_ERRORS[error.case];
  const description = error.description ?? row.description;
  const headers: Record<string, string> = { ...row.headers, ...corsHeaders(error.allowOrigin) };
  if (row.shape === 'bearer') {
    headers['www-authenticate'] = bearerChallenge(error.realm ?? '', row.error, description);
    headers['content-type'] = 'text/plain;charset=UTF-8';
    return { status: row.status, headers, body: '' };
  }
  return {
    status: row.status,
    headers,
    body: { error: row.error, ...(description === undefined ? {} : { error_description: description }) },
  };
}

/** Anything but visible ASCII would end or break the header line; quotes and backslashes are escaped. */
function bearerChallenge(realm: string, error: string, description: string | undefined): string {
  const parts = [['realm', realm]];
  if (error !== '') parts.push(['error', error]);
  if (error !== '' && description !== undefined) parts.push(['error_description', description]);
  return `Bearer ${parts.map(([name, value]) => `${name}="${quoted(value!)}"`).join(', ')}`;
}

function quoted(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
}

const STATUS: Readonly<Record<AdminRefusalKind, number>> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'unsupported-media': 415,
  'not-built': 501,
};

/** What administration refused as status and body; undefined for anything else. */
function renderAdminError(
  error: unknown,
): { status: number; headers: Record<string, string>; body: unknown } | undefined {
  if (error instanceof AdminRefusal) return { status: STATUS[error.kind], headers: {}, body: error.body };
  if (error instanceof ClientUriFault)
    return {
      status: 400,
      headers: {},
      body: { error: 'invalid_input', error_description: error.what },
    };
  if (error instanceof RepresentationFault)
    return { status: 400, headers: {}, body: { errorMessage: error.message } };
  return undefined;
}
