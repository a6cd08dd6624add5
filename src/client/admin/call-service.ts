import { IdkitError } from '../../core/index.ts';
import { fetchService } from './fetch-service.ts';

export interface ServiceCall {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** For the whole call. Default: 10,000. */
  timeoutMilliseconds?: number;
}

/** A response with its complete body. */
export interface ServiceAnswer {
  url: string;
  status: number;
  location?: string;
  text: string;
}

const DEFAULT_TIMEOUT = 10_000;

/**
 * Sends one request and reads the complete response. Follows no redirects, so that credentials go only to the address
 * that the caller named.
 *
 * @throws IDKIT_UNREACHABLE with the address and the cause; the reason of the signal if the caller aborted
 */
export async function callService(call: ServiceCall): Promise<ServiceAnswer> {
  const timeout = AbortSignal.timeout(call.timeoutMilliseconds ?? DEFAULT_TIMEOUT);
  const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
  try {
    const response = await fetchService(call.url, {
      method: call.method,
      headers: call.headers ?? {},
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const location = response.headers.get('location');
    return {
      url: call.url,
      status: response.status,
      ...(location === null ? {} : { location }),
      text: await response.text(),
    };
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `${originOf(call.url)} is unreachable: ${explain(error, call)}`,
      {
        hints: ['start the service with `idkit serve`, or name another address with --base-url'],
        cause: error,
      },
    );
  }
}

/** Parses the body as JSON. Returns undefined for an empty body. @throws IDKIT_FAILED if the body is not JSON */
export function readJson(answer: ServiceAnswer): unknown {
  if (answer.text === '') return undefined;
  try {
    return JSON.parse(answer.text);
  } catch (error) {
    throw new IdkitError('IDKIT_FAILED', `${answer.url} returned ${answer.status} without JSON`, {
      hints: ['check that this is the address of a token service'],
      cause: error,
    });
  }
}

function explain(error: unknown, call: ServiceCall): string {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `no response within ${(call.timeoutMilliseconds ?? DEFAULT_TIMEOUT) / 1000} s`;
  }
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return messageOf(cause.errors[0]);
  return messageOf(cause);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

/**
 * Encodes a name as one segment of a path. `encodeURIComponent` leaves `.` and `..` as they are, which a URL would resolve.
 *
 * @throws IDKIT_USAGE for an empty name, `.` and `..`
 */
export function pathSegment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new IdkitError('IDKIT_USAGE', `${JSON.stringify(name)} is not a valid name`);
  }
  return encodeURIComponent(name);
}
