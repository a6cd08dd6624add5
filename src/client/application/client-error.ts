/**
 * The codes of errors, for programs:
 * - `unreachable`: there is no response, or a temporary error (429, 5xx). Tokens stay; retry later.
 * - `refused`: the service refuses the request; see `status`, `error` and `errorDescription` (RFC 6749 §5.2).
 * - `logged_out`: no user is logged in, so there is no token.
 * - `login_failed`: the response to a login is an error, or belongs to no login that this client started.
 * - `unexpected_answer`: the response is not that of an OpenID provider, or breaks the protocol.
 * - `not_allowed`: the client refuses the call, for example to send a token to an address that is not listed.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'refused'
  | 'logged_out'
  | 'login_failed'
  | 'unexpected_answer'
  | 'not_allowed';

/** How the service refused a request. */
export interface RefusalDetails {
  status?: number;
  /** The `error` of RFC 6749 §4.1.2.1 or §5.2, such as `invalid_grant`. */
  error?: string;
  errorDescription?: string;
}

/** The only error of `idkit/client`. Its message contains neither tokens nor secrets. */
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
