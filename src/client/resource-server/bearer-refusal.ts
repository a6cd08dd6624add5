/**
 * A call that is not let through, as it is answered (specification, "Resource server contract"): 401 with
 * `Bearer error="invalid_token"` for a missing token too, 403 with `insufficient_scope`, and 503 where the published
 * keys cannot be had and so nothing is known of the token.
 */
export class BearerRefusal extends Error {
  override readonly name = 'BearerRefusal';
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string };

  /** @param why for logs; never sent, and without the token */
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
