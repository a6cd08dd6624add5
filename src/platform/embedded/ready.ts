import { fetchService } from '../../client/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Timeout in milliseconds of one request to `/health/ready`. */
const REQUEST_TIMEOUT = 5_000;

/** Error codes of sockets for a refused, reset or timed-out connection. */
const NOT_YET: readonly string[] = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'];

/**
 * Requests `/health/ready` once and waits for the response no longer than until `until` (milliseconds of
 * `performance.now()`). Returns false if the service is not listening or closes the connection.
 *
 * @throws IDKIT_UNREACHABLE for an error that waiting does not fix: another certificate, or a port that does
 *   not speak HTTP
 */
export async function isReady(address: string, until: number): Promise<boolean> {
  const milliseconds = Math.ceil(Math.max(1, Math.min(REQUEST_TIMEOUT, until - performance.now())));
  const signal = AbortSignal.timeout(milliseconds);
  try {
    const response = await fetchService(`${address}/health/ready`, { method: 'GET', headers: {}, signal });
    await response.text();
    return response.status === 200;
  } catch (error) {
    if (signal.aborted) return false;
    const fault = innermost(error);
    if (NOT_YET.includes(systemErrorCode(fault) ?? '')) return false;
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new IdkitError('IDKIT_UNREACHABLE', `the readiness of ${address} cannot be checked: ${why}`, {
      cause: error,
    });
  }
}

/**
 * Returns the reason for an error of a request, which can be in its cause. If the request tried several addresses,
 * returns the first error.
 */
function innermost(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return innermost(error.cause);
  return error;
}
