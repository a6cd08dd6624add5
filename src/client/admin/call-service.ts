import { IdkitError } from '../../core/index.ts';
import { fetchService } from './fetch-service.ts';

/** One HTTP call. */
export interface ServiceCall {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** For the whole call; 10,000 unless told. */
  timeoutMilliseconds?: number;
}

/** An answer, read to its end. */
export interface ServiceAnswer {
  url: string;
  status: number;
  location?: string;
  text: string;
}

const DEFAULT_TIMEOUT = 10_000;

/**
 * Sends one request and reads the whole answer. Redirects are not followed: a login must not travel to an address
 * that nobody named.
 *
 * @throws IDKIT_UNREACHABLE naming the address and why; the signal's own reason where the caller aborted
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
      `${originOf(call.url)} cannot be reached: ${explain(error, call)}`,
      {
        hints: ['start the service with `idkit serve`, or name another address with --base-url'],
        cause: error,
      },
    );
  }
}

/** The body as JSON, or undefined where it is empty. @throws IDKIT_FAILED for any other text */
export function readJson(answer: ServiceAnswer): unknown {
  if (answer.text === '') return undefined;
  try {
    return JSON.parse(answer.text);
  } catch (error) {
    throw new IdkitError('IDKIT_FAILED', `${answer.url} answers ${answer.status} without JSON`, {
      hints: ['is this the address of a token service?'],
      cause: error,
    });
  }
}

function explain(error: unknown, call: ServiceCall): string {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `no answer within ${(call.timeoutMilliseconds ?? DEFAULT_TIMEOUT) / 1000} s`;
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
 * A name as one segment of a path. `encodeURIComponent` lets `.` and `..` pass, and a URL resolves them away.
 *
 * @throws IDKIT_USAGE for what cannot be a segment
 */
export function pathSegment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new IdkitError('IDKIT_USAGE', `${JSON.stringify(name)} is no name`);
  }
  return encodeURIComponent(name);
}
