/**
 * The reasons for a refusal. Each has a row in the table of the HTTP room, with its status, its `error` code and its
 * default description. Append new names, and do not rename existing ones.
 */
export type RefusalCase =
  // Common to the endpoints (docs/keycloak/errors.md, docs/keycloak/tokens.md#order-of-the-checks)
  | 'realm-not-found'
  | 'protocol-not-found'
  | 'https-required'
  | 'realm-not-enabled'
  | 'realm-disabled'
  | 'client-disabled'
  | 'invalid-origin'
  | 'malformed-form'
  | 'duplicated-parameter'
  | 'missing-grant-type'
  | 'unsupported-grant-type'
  | 'dpop-refused'
  | 'no-signing-key'
  | 'not-built-yet'
  | 'service-busy'
  | 'form-too-large'
  | 'parameter-too-long'
  // Client authentication (docs/keycloak/clients.md#client-authentication)
  | 'client-unknown'
  | 'client-credentials-wrong'
  | 'client-assertion-refused'
  | 'client-assertion-signature'
  | 'client-protocol-wrong'
  | 'client-bearer-only'
  | 'client-method-unsupported'
  // Scopes (docs/keycloak/tokens.md#scopes)
  | 'invalid-scope'
  | 'offline-not-allowed'
  // Grants that a client may not use
  | 'grant-refused'
  | 'exchange-refused'
  | 'client-not-allowed'
  | 'consent-required'
  | 'consent-withdrawn'
  // client_credentials (docs/keycloak/tokens.md#client-credentials)
  | 'service-account-not-enabled'
  | 'service-account-unusable'
  // password (docs/keycloak/tokens.md#password-grant)
  | 'missing-username'
  | 'user-credentials-wrong'
  | 'account-disabled'
  | 'account-not-set-up'
  | 'login-refused'
  // authorization_code (docs/keycloak/tokens.md#authorization-code)
  | 'missing-code'
  | 'code-refused'
  // refresh_token (docs/keycloak/tokens.md#refresh)
  | 'missing-refresh-token'
  | 'refresh-token-refused'
  // revoke (docs/keycloak/tokens.md#revocation)
  | 'revoke-missing-token'
  | 'revoke-invalid-token'
  | 'revoke-unsupported-type'
  | 'revoke-other-client'
  // introspection (docs/keycloak/tokens.md#introspection)
  | 'introspect-client-unknown'
  | 'introspect-client-wrong'
  | 'introspect-public-client'
  | 'introspect-missing-token'
  | 'introspect-unsupported-type'
  // user info (docs/keycloak/tokens.md#user-info)
  | 'userinfo-missing-token'
  | 'userinfo-invalid-token'
  | 'userinfo-scope'
  | 'userinfo-doubled'
  // account API (Keycloak `AccountRestService`)
  | 'account-off'
  | 'account-unauthorized'
  | 'account-forbidden';

/** The optional parts of a refusal. */
export interface RefusalOptions {
  /** Replaces the default description. The client receives it. */
  description?: string | undefined;
  /** A description that only logs and events contain. */
  detail?: string | undefined;
  /** Keycloak's event error, if it differs from the default of the reason. */
  eventError?: string | undefined;
  /** The value of `Access-Control-Allow-Origin`, if the endpoint has determined it. */
  allowOrigin?: string | undefined;
  /** The realm in the path, for headers that name it. */
  realm?: string | undefined;
  cause?: unknown;
}

/**
 * Rejects a request that violates the protocol, or that its client may not send. A refusal is not a bug, and the
 * operator need not act.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly case: RefusalCase;
  readonly description: string | undefined;
  readonly detail: string | undefined;
  readonly eventError: string | undefined;
  /** Set by the code that throws the refusal, or by the endpoint, which knows the path. */
  realm: string | undefined;
  /** Set by the code that throws the refusal, or by the endpoint, which knows the client. */
  allowOrigin: string | undefined;

  constructor(refusalCase: RefusalCase, options: RefusalOptions = {}) {
    super(
      options.detail ?? options.description ?? refusalCase,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.case = refusalCase;
    this.description = options.description;
    this.detail = options.detail;
    this.eventError = options.eventError;
    this.realm = options.realm;
    this.allowOrigin = options.allowOrigin;
  }
}
