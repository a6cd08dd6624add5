/**
 * The cause of a `ClientError`:
 * - `unreachable`: the service did not respond, or responded with 429 or 5xx. The session keeps its tokens. Try again.
 * - `refused`: the service rejected the request; see `status`, `error` and `errorDescription` (RFC 6749 §5.2).
 * - `logged_out`: the session has no tokens.
 * - `login_failed`: the response to a login is an error, or it does not belong to a login of this session.
 * - `unexpected_answer`: the response does not follow OpenID Connect. The issuer may not be an OpenID provider.
 * - `secret_missing`: the client's secret is empty, or not a text. The service was not asked.
 * - `callback_failed`: a function of the application, such as `clientSecret` or `openUrl`, threw an error, which is the
 *   `cause`. The service was not asked.
 * - `not_allowed`: the library does not allow the call, for example a request to an address outside `apiOrigins`.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'refused'
  | 'logged_out'
  | 'login_failed'
  | 'unexpected_answer'
  | 'secret_missing'
  | 'callback_failed'
  | 'not_allowed';

/** The service's reasons for rejecting a request. */
export interface RefusalDetails {
  /** The HTTP status. */
  status?: number;
  /** The `error` of the response (RFC 6749 §4.1.2.1 or §5.2), such as `invalid_grant`. */
  error?: string;
  /** The `error_description` of the response, if it has one. */
  errorDescription?: string;
}

/**
 * The error that every function of `idkit/client` throws if it fails at run time. Its message contains no token and no
 * secret.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;

  constructor(code: ClientErrorCode, message: string, details: RefusalDetails & { cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.error = details.error;
    this.errorDescription = details.errorDescription;
  }
}
