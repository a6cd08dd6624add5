/**
 * What went wrong, for programs:
 * - `unreachable`: no answer, or one that says "later" (429, 5xx). What is held stays; try again.
 * - `refused`: the service refused; `status`, `error` and `errorDescription` say how (RFC 6749 §5.2).
 * - `logged_out`: there is no login to get a token from.
 * - `login_failed`: the answer of a login is an error, or does not belong to a login that was started here.
 * - `unexpected_answer`: something else than an OpenID provider answers, or one with other rules.
 * - `not_allowed`: the call asks for what this client does not do, such as a token for a foreign address.
 */
export type ClientErrorCode =
  | 'unreachable'
  | 'refused'
  | 'logged_out'
  | 'login_failed'
  | 'unexpected_answer'
  | 'not_allowed';

/** How a service said no. */
export interface RefusalDetails {
  status?: number;
  /** The `error` of RFC 6749 §4.1.2.1 or §5.2, such as `invalid_grant`. */
  error?: string;
  errorDescription?: string;
}

/** The one error of `idkit/client`. Its text holds no token and no secret. */
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
