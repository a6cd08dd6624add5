/**
 * Why a request was refused, one name per row of `http/wire-errors.ts`. Append only. The status, the `error`
 * code and the usual wording stand there, never here.
 */
export type RefusalCase =
  // Common to the endpoints (facts §1, §3.1)
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
  // Client authentication (facts §2)
  | 'client-unknown'
  | 'client-credentials-wrong'
  | 'client-assertion-refused'
  | 'client-assertion-signature'
  | 'client-protocol-wrong'
  | 'client-bearer-only'
  | 'client-method-unsupported'
  // Scopes (facts §3, §4.1)
  | 'invalid-scope'
  | 'offline-not-allowed'
  // Grants that a client may not use (facts §3.3, §3.5 to §3.8, observed further-grants)
  | 'grant-refused'
  | 'exchange-refused'
  | 'client-not-allowed'
  | 'consent-required'
  | 'consent-withdrawn'
  // client_credentials (facts §3.5)
  | 'service-account-not-enabled'
  | 'service-account-unusable'
  // password (facts §3.6)
  | 'missing-username'
  | 'user-credentials-wrong'
  | 'account-disabled'
  | 'account-not-set-up'
  | 'login-refused'
  // authorization_code (facts §3.3)
  | 'missing-code'
  | 'code-refused'
  // refresh_token (facts §3.4)
  | 'missing-refresh-token'
  | 'refresh-token-refused'
  // revoke (facts §5.1)
  | 'revoke-missing-token'
  | 'revoke-invalid-token'
  | 'revoke-unsupported-type'
  | 'revoke-other-client'
  // introspection (facts §5.4)
  | 'introspect-client-unknown'
  | 'introspect-client-wrong'
  | 'introspect-public-client'
  | 'introspect-missing-token'
  | 'introspect-unsupported-type'
  // user info (facts §5.5)
  | 'userinfo-missing-token'
  | 'userinfo-invalid-token'
  | 'userinfo-scope'
  | 'userinfo-doubled'
  // account API (Keycloak `AccountRestService`)
  | 'account-off'
  | 'account-unauthorized'
  | 'account-forbidden';

/** What a refusal may carry beside its case. */
export interface RefusalOptions {
  /** Replaces or fills the row's wording; goes on the wire. */
  description?: string | undefined;
  /** For logs and events only. */
  detail?: string | undefined;
  /** Keycloak's event error, where it differs from the case's usual one (facts §13). */
  eventError?: string | undefined;
  /** The value of `Access-Control-Allow-Origin`, where the endpoint got as far as allowing one. */
  allowOrigin?: string | undefined;
  /** The realm in the path, for headers that name it. */
  realm?: string | undefined;
  cause?: unknown;
}

/** A client broke the protocol or may not do what it asked for. Not a bug and nothing for the operator. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly case: RefusalCase;
  readonly description: string | undefined;
  readonly detail: string | undefined;
  readonly eventError: string | undefined;
  /** Set where the refusal is thrown, or added by the endpoint that knows the path. */
  realm: string | undefined;
  /** Set where the refusal is thrown, or added by the endpoint that knows the client. */
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
