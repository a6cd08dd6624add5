import { AdminRefusal, ClientUriFault, RepresentationFault } from '../../admin/index.ts';
import { HashingBusy } from '../../crypto/index.ts';
import { Refusal, type RefusalCase } from '../../protocol/index.ts';
import { corsHeaders } from './cors.ts';
import { ADMIN_STATUS, STATUS, statusText } from './statuses.ts';

/** The response to a refusal of the protocol. */
export interface WireError {
  status: number;
  /** The OAuth error code, or the whole message if the response has no description. */
  error: string;
  /** The `error_description`, unless the refusal itself has one. By default, the response has no such field. */
  description?: string;
  /** `bearer`: the response has an empty body and names the error in `WWW-Authenticate` (RFC 6750 §3). */
  shape?: 'bearer';
  headers?: Readonly<Record<string, string>>;
  /** The specification of the response: a standard, or the page of docs/ that describes Keycloak's response. */
  source: string;
}

const credentials = 'Invalid client or Invalid client credentials';

/** The responses to the protocol's refusals: the status, the body and their specification. */
export const WIRE_ERRORS: Readonly<Record<RefusalCase, WireError>> = {
  'realm-not-found': {
    status: 404,
    error: 'Realm does not exist',
    source: 'docs/keycloak/errors.md#unknown-realms-and-paths',
  },
  'protocol-not-found': {
    status: 404,
    error: 'Protocol not found',
    source: 'docs/keycloak/errors.md#unknown-realms-and-paths',
  },
  'https-required': {
    status: 403,
    error: 'invalid_request',
    description: 'HTTPS required',
    source: 'docs/keycloak/tokens.md#order-of-the-checks',
  },
  'realm-not-enabled': {
    status: 403,
    error: 'access_denied',
    description: 'Realm not enabled',
    source: 'docs/keycloak/tokens.md#disabled-realm-or-client',
  },
  'realm-disabled': {
    status: 400,
    error: 'realm_disabled',
    description: 'Realm is disabled',
    source: 'docs/keycloak/tokens.md#disabled-realm-or-client',
  },
  'client-disabled': {
    status: 400,
    error: 'client_disabled',
    description: 'Client is disabled',
    source: 'docs/keycloak/tokens.md#disabled-realm-or-client',
  },
  'invalid-origin': { status: 403, error: 'Invalid origin', source: 'docs/keycloak/errors.md#cors' },
  'malformed-form': {
    status: 400,
    error: 'invalid_request',
    source: 'docs/keycloak/errors.md#server-faults',
  },
  'duplicated-parameter': {
    status: 400,
    error: 'invalid_request',
    description: 'duplicated parameter',
    source: 'docs/keycloak/tokens.md#order-of-the-checks',
  },
  'missing-grant-type': {
    status: 400,
    error: 'invalid_request',
    description: 'Missing form parameter: grant_type',
    source: 'docs/keycloak/tokens.md#order-of-the-checks',
  },
  'unsupported-grant-type': {
    status: 400,
    error: 'unsupported_grant_type',
    description: 'Unsupported grant_type',
    source: 'docs/keycloak/tokens.md#order-of-the-checks',
  },
  'dpop-refused': {
    status: 400,
    error: 'invalid_request',
    description: 'DPoP header verification failure',
    source: 'docs/keycloak/tokens.md#order-of-the-checks',
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
    description: 'The service is overloaded. Try again in a few seconds.',
    headers: { 'retry-after': '2' },
    source: 'RFC 6749 §4.1.2.1, RFC 9110 §15.6.4',
  },
  'form-too-large': { status: 413, error: 'invalid_request', source: 'RFC 9110 §15.5.14' },
  'parameter-too-long': { status: 400, error: 'invalid_request', source: 'Keycloak 26, TokenEndpoint' },

  'client-unknown': {
    status: 401,
    error: 'invalid_client',
    description: credentials,
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-credentials-wrong': {
    status: 401,
    error: 'unauthorized_client',
    description: credentials,
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-assertion-refused': {
    status: 400,
    error: 'invalid_client',
    description: 'Parameter client_assertion_type is missing',
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-assertion-signature': {
    status: 400,
    error: 'unauthorized_client',
    description:
      'Client authentication with client secret signed JWT failed: Signature on JWT token by client secret  failed validation',
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-protocol-wrong': {
    status: 400,
    error: 'invalid_client',
    description: 'Wrong client protocol.',
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-bearer-only': {
    status: 400,
    error: 'invalid_client',
    description: 'Bearer-only not allowed',
    source: 'docs/keycloak/clients.md#client-authentication',
  },
  'client-method-unsupported': {
    status: 400,
    error: 'invalid_client',
    description: 'The authentication method of this client is not implemented yet',
    source: 'RFC 6749 §5.2, "unsupported authentication method"',
  },

  'invalid-scope': { status: 400, error: 'invalid_scope', source: 'docs/keycloak/tokens.md#scopes' },
  'offline-not-allowed': {
    status: 400,
    error: 'not_allowed',
    description: 'Offline tokens not allowed for the user or client',
    source: 'docs/keycloak/sessions.md#offline-sessions',
  },

  'grant-refused': {
    status: 400,
    error: 'invalid_grant',
    source: 'docs/keycloak/tokens.md#authorization-code',
  },
  'exchange-refused': {
    status: 400,
    error: 'invalid_request',
    description: 'Standard token exchange is not enabled for the requested client',
    source: 'docs/keycloak/tokens.md#token-exchange',
  },
  'client-not-allowed': {
    status: 400,
    error: 'unauthorized_client',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'consent-required': {
    status: 400,
    error: 'invalid_client',
    description: 'Client requires user consent',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'consent-withdrawn': {
    status: 400,
    error: 'invalid_scope',
    description: 'Client no longer has requested consent from user',
    source: 'docs/keycloak/tokens.md#refresh',
  },

  'service-account-not-enabled': {
    status: 401,
    error: 'unauthorized_client',
    source: 'docs/keycloak/tokens.md#client-credentials',
  },
  'service-account-unusable': {
    status: 401,
    error: 'invalid_request',
    source: 'docs/keycloak/tokens.md#client-credentials',
  },

  'missing-username': {
    status: 401,
    error: 'invalid_request',
    description: 'Missing parameter: username',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'user-credentials-wrong': {
    status: 400,
    error: 'invalid_grant',
    description: 'Invalid user credentials',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'account-disabled': {
    status: 400,
    error: 'invalid_grant',
    description: 'Account disabled',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'account-not-set-up': {
    status: 400,
    error: 'invalid_grant',
    description: 'Account is not fully set up',
    source: 'docs/keycloak/tokens.md#password-grant',
  },
  'login-refused': { status: 400, error: 'invalid_grant', source: 'docs/keycloak/tokens.md#demands' },

  'missing-code': {
    status: 400,
    error: 'invalid_request',
    description: 'Missing parameter: code',
    source: 'docs/keycloak/tokens.md#authorization-code',
  },
  'code-refused': {
    status: 400,
    error: 'invalid_grant',
    source: 'docs/keycloak/tokens.md#authorization-code',
  },

  'missing-refresh-token': {
    status: 400,
    error: 'invalid_request',
    description: 'No refresh token',
    source: 'docs/keycloak/tokens.md#refresh',
  },
  'refresh-token-refused': { status: 400, error: 'invalid_grant', source: 'docs/keycloak/tokens.md#refresh' },

  'revoke-missing-token': {
    status: 400,
    error: 'invalid_request',
    description: 'Token not provided',
    source: 'docs/keycloak/tokens.md#revocation',
  },
  'revoke-invalid-token': {
    status: 200,
    error: 'invalid_token',
    description: 'Invalid token',
    source: 'RFC 7009 §2.2',
  },
  'revoke-unsupported-type': {
    status: 400,
    error: 'unsupported_token_type',
    description: 'Unsupported token type',
    source: 'docs/keycloak/tokens.md#revocation',
  },
  'revoke-other-client': {
    status: 400,
    error: 'invalid_request',
    description: 'Unmatching clients',
    source: 'docs/keycloak/tokens.md#revocation',
  },

  'introspect-client-unknown': {
    status: 401,
    error: 'invalid_client',
    description: credentials,
    source: 'docs/keycloak/tokens.md#introspection',
  },
  'introspect-client-wrong': {
    status: 401,
    error: 'invalid_client',
    description: 'Client authentication failed.',
    source: 'docs/keycloak/tokens.md#introspection',
  },
  'introspect-public-client': {
    status: 403,
    error: 'invalid_request',
    description: 'Client not allowed.',
    source: 'docs/keycloak/tokens.md#introspection',
  },
  'introspect-missing-token': {
    status: 400,
    error: 'invalid_request',
    description: 'Token not provided.',
    source: 'docs/keycloak/tokens.md#introspection',
  },
  'introspect-unsupported-type': {
    status: 400,
    error: 'invalid_request',
    description: 'Unsupported token type.',
    source: 'docs/keycloak/tokens.md#introspection',
  },

  'userinfo-missing-token': {
    status: 401,
    error: '',
    shape: 'bearer',
    source: 'docs/keycloak/tokens.md#user-info',
  },
  'userinfo-invalid-token': {
    status: 401,
    error: 'invalid_token',
    shape: 'bearer',
    source: 'docs/keycloak/tokens.md#user-info',
  },
  'userinfo-scope': {
    status: 403,
    error: 'insufficient_scope',
    description: 'Missing openid scope',
    shape: 'bearer',
    source: 'docs/keycloak/tokens.md#user-info',
  },
  'userinfo-doubled': {
    status: 400,
    error: 'invalid_request',
    description: 'More than one method used for including an access token',
    shape: 'bearer',
    source: 'docs/keycloak/tokens.md#user-info',
  },

  'account-off': { status: 404, error: statusText(STATUS.notFound), source: 'Keycloak 26, AccountLoader' },
  'account-unauthorized': {
    status: 401,
    error: statusText(STATUS.unauthorized),
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    source: 'Keycloak 26, AccountRestService',
  },
  'account-forbidden': {
    status: 403,
    error: statusText(STATUS.forbidden),
    source: 'Keycloak 26, AccountRestService',
  },
};

/** The rendered response to a refusal. */
export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** Returns the response to a refusal of the protocol or of administration, or undefined for any other error. */
export function renderRefusal(error: unknown): ErrorResponse | undefined {
  if (error instanceof HashingBusy) return renderRefusal(new Refusal('service-busy'));
  if (!(error instanceof Refusal)) return renderAdminError(error);
  const row = WIRE_ERRORS[error.case];
  const { status } = row;
  const description = error.description ?? row.description;
  const headers = { ...row.headers, ...corsHeaders(error.allowOrigin) };
  if (row.shape === 'bearer') {
    const challenge = bearerChallenge(error.realm ?? '', row.error, description);
    const contentType = 'text/plain;charset=UTF-8';
    return {
      status,
      headers: { ...headers, 'www-authenticate': challenge, 'content-type': contentType },
      body: '',
    };
  }
  const body = { error: row.error, ...(description === undefined ? {} : { error_description: description }) };
  return { status, headers, body };
}

function bearerChallenge(realm: string, error: string, description: string | undefined): string {
  const parameters = { realm, ...(error === '' ? {} : { error, error_description: description }) };
  const parts = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${quoted(value)}"`],
  );
  return `Bearer ${parts.join(', ')}`;
}

/**
 * Escapes a text for a quoted string in a header. Replaces all characters except visible ASCII, because others would
 * break the header.
 */
function quoted(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
}

function renderAdminError(error: unknown): ErrorResponse | undefined {
  if (error instanceof AdminRefusal) {
    const status = ADMIN_STATUS[error.kind];
    return { status, headers: {}, body: error.body ?? { error: statusText(status) } };
  }
  const status = STATUS.badRequest;
  if (error instanceof ClientUriFault)
    return { status, headers: {}, body: { error: 'invalid_input', error_description: error.what } };
  if (error instanceof RepresentationFault)
    return { status, headers: {}, body: { errorMessage: error.message } };
  return undefined;
}
