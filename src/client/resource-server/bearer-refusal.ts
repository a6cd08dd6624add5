/**
 * A rejected request, with its response: 401 with `Bearer error="invalid_token"` for an invalid or missing token, 403 with
 * `insufficient_scope`, and 503 if the published keys are unavailable and the token cannot be verified.
 */
export class BearerRefusal extends Error {
  override readonly name = 'BearerRefusal';
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string };

  /** @param why for logs. It is never sent and never contains the token. */
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
