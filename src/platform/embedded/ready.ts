import { fetchService } from '../../client/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';

/** Milliseconds that one look at `/health/ready` may take. */
const LONGEST_LOOK = 5_000;

/** Refused, reset or timed out, as sockets and the fetch of Node.js name it. */
const NOT_YET: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
];

/**
 * One look at `/health/ready`, at most until `until` (milliseconds of `performance.now()`). A service that does not
 * listen, or breaks off, is not ready yet.
 *
 * @throws IDKIT_UNREACHABLE for what no waiting mends: another certificate, something that speaks no HTTP
 */
export async function isReady(address: string, until: number): Promise<boolean> {
  const milliseconds = Math.ceil(Math.max(1, Math.min(LONGEST_LOOK, until - performance.now())));
  const signal = AbortSignal.timeout(milliseconds);
  try {
    const answer = await fetchService(`${address}/health/ready`, { method: 'GET', headers: {}, signal });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch (error) {
    if (signal.aborted) return false;
    const fault = innermost(error);
    if (NOT_YET.includes(systemErrorCode(fault) ?? '')) return false;
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new IdkitError('IDKIT_UNREACHABLE', `${address} cannot be asked whether it is ready: ${why}`, {
      cause: error,
    });
  }
}

/** `fetch` hides the reason in its cause, and that of several addresses in the first of them. */
function innermost(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return innermost(error.cause);
  return error;
}
