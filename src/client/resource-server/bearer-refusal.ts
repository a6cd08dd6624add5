/**
 * The response to a request that the resource server rejects:
 * - 401 with `WWW-Authenticate: Bearer error="invalid_token"` if the token is invalid or missing;
 * - 403 with `insufficient_scope` if the caller lacks a role or scope;
 * - 503 with `Retry-After` if the service's keys are unavailable, so the token cannot be verified.
 */
export class BearerRefusal extends Error {
  override readonly name = 'BearerRefusal';
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string };

  /** @param why the reason, which is for the log only. It must not contain the token */
  constructor(status: 401 | 403 | 503, why: string, cause?: unknown) {
    super(why, cause === undefined ? undefined : { cause });
    const error = ERRORS[status];
    this.status = status;
    this.headers = {
      'cache-control': 'no-store',
      'content-type': 'application/json',
      ...(status === 503 ? { 'retry-after': '5' } : { 'www-authenticate': `Bearer error="${error}"` }),
    };
    this.body = { error };
  }
}

const ERRORS = {
  401: 'invalid_token',
  403: 'insufficient_scope',
  503: 'temporarily_unavailable',
} as const;
