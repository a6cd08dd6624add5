import { IdkitError } from '../../core/index.ts';
import { fetchService } from './fetch-service.ts';

export interface ServiceCall {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** Timeout of the whole call in milliseconds. Default: 10,000. */
  timeoutMilliseconds?: number;
}

/** A response with its whole body. */
export interface ServiceResponse {
  url: string;
  status: number;
  readonly headers: Headers;
  location?: string;
  text: string;
  /** The body as bytes, if its content type is not text, for example that of a keystore. */
  bytes?: Uint8Array;
}

/** The content types of text. A response without a type has text too. */
const TEXT = /^$|^text\/|json|xml|urlencoded|yaml|javascript/i;

const DEFAULT_TIMEOUT = 10_000;

/**
 * Sends one request and reads the whole response. Does not follow redirects, because credentials must not reach an
 * address that the caller did not name.
 *
 * @throws IDKIT_UNREACHABLE with the address and the cause; the reason of `signal` if that aborted the call
 */
export async function callService(call: ServiceCall): Promise<ServiceResponse> {
  const timeout = AbortSignal.timeout(call.timeoutMilliseconds ?? DEFAULT_TIMEOUT);
  const signal = call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]);
  try {
    const response = await fetchService(call.url, {
      method: call.method,
      headers: call.headers ?? {},
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    const { location } = response;
    const bytes = await response.bytes();
    return {
      url: call.url,
      status: response.status,
      get headers() {
        return response.headers;
      },
      ...(location === undefined ? {} : { location }),
      text: new TextDecoder().decode(bytes),
      ...(TEXT.test(response.contentType) ? {} : { bytes }),
    };
  } catch (error) {
    if (call.signal?.aborted) throw call.signal.reason;
    throw new IdkitError(
      'IDKIT_UNREACHABLE',
      `${originOf(call.url)} cannot be reached: ${explain(error, call)}`,
      {
        hints: ['start the service with `idkit serve`, or set another address with --base-url'],
        cause: error,
      },
    );
  }
}

/** Returns the parsed body, or undefined if the body is empty. @throws IDKIT_FAILED if the body is not JSON */
export function readJson(response: ServiceResponse): unknown {
  if (response.text === '') return undefined;
  try {
    return JSON.parse(response.text);
  } catch (error) {
    throw new IdkitError(
      'IDKIT_FAILED',
      `${response.url} returned status ${response.status} and a body that is not JSON`,
      {
        hints: ['check that this is the address of a token service'],
        cause: error,
      },
    );
  }
}

function explain(error: unknown, call: ServiceCall): string {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `no response within ${(call.timeoutMilliseconds ?? DEFAULT_TIMEOUT) / 1000} s`;
  }
  // The request tried several addresses.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

/**
 * Encodes a name as one segment of a path. Rejects `.` and `..`, which `encodeURIComponent` does not encode and a URL
 * would resolve.
 *
 * @throws IDKIT_USAGE if the name is empty, `.` or `..`
 */
export function pathSegment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new IdkitError('IDKIT_USAGE', `${JSON.stringify(name)} is not a valid name`);
  }
  return encodeURIComponent(name);
}
