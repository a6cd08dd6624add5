/**
 * Why the resource server rejects a request. With status 401:
 * - `missing`: the request has no bearer token. `malformed`: the token is not a signed JWT.
 * - `ambiguous`: the request has several `Authorization` headers, of which a proxy may have checked another one.
 * - `signature`: the signature is wrong, or no published key can check it.
 * - `expired`, `not_yet_valid`: `exp` or `nbf`. `issuer`, `audience`: `iss` or `aud`. `claims`: another claim.
 * - `kind`: the token is an ID, refresh or logout token.
 * - `bound`: the token is bound to a key (claim `cnf`), and this library cannot check that the caller has the key.
 *
 * With status 403, `requirement`: the caller lacks a role or scope. With status 503, `keys_unavailable`.
 */
export type RefusalReason = keyof typeof REASONS;

/** The status of each reason, and the description that a response with status 401 contains. */
const REASONS = {
  missing: [401, 'the request has no bearer token'],
  ambiguous: [401, 'the request has several Authorization headers'],
  malformed: [401, 'the token is not a signed JWT'],
  signature: [401, 'the signature of the token is wrong, or its key is unknown'],
  expired: [401, 'the token has expired'],
  not_yet_valid: [401, 'the token is not valid yet'],
  issuer: [401, 'another issuer issued the token'],
  audience: [401, 'the token is for another audience'],
  claims: [401, 'a claim of the token is missing or wrong'],
  kind: [401, 'the token is not an access token'],
  bound: [401, 'the token is bound to a key, and this API accepts bearer tokens only'],
  requirement: [403, undefined],
  keys_unavailable: [503, undefined],
} as const satisfies Record<string, readonly [status: 401 | 403 | 503, description: string | undefined]>;

const ERRORS = {
  401: 'invalid_token',
  403: 'insufficient_scope',
  503: 'temporarily_unavailable',
} as const;

/**
 * The response to a request that the resource server rejects:
 * - 401 with `WWW-Authenticate: Bearer error="invalid_token"` and the reason as `error_description` (RFC 6750 §3) if
 *   the token is invalid or missing;
 * - 403 with `insufficient_scope` if the caller lacks a role or scope;
 * - 503 with `Retry-After` if the service's keys are unavailable, so the token cannot be verified.
 */
export class BearerRefusal extends Error {
  override readonly name = 'BearerRefusal';
  readonly reason: RefusalReason;
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly error_description?: string };

  /** @param why the details, which are for the log only. They must not contain the token */
  constructor(reason: RefusalReason, why?: string, cause?: unknown) {
    const [status, description] = REASONS[reason];
    super(why ?? description, cause === undefined ? undefined : { cause });
    const error = ERRORS[status];
    const challenge = [`error="${error}"`, ...(description ? [`error_description="${description}"`] : [])];
    this.reason = reason;
    this.status = status;
    this.headers = {
      'cache-control': 'no-store',
      'content-type': 'application/json',
      ...(status === 503 ? { 'retry-after': '5' } : { 'www-authenticate': `Bearer ${challenge.join(', ')}` }),
    };
    this.body = { error, ...(description ? { error_description: description } : {}) };
  }
}
