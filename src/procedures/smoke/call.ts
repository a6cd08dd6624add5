import { type ArrivingResponse, fetchService } from '../../client/index.ts';
import { IdkitError, isJsonObject } from '../../core/index.ts';

/** Size limit of a response in bytes. The documents that smoke reads are much smaller. */
const RESPONSE_LIMIT = 4 * 1024 * 1024;

/** A response with its complete body. */
export interface ServiceResponse {
  status: number;
  headers: Headers;
  text: string;
}

export interface CallOptions {
  method?: 'GET' | 'POST';
  form?: Readonly<Record<string, string>>;
  /** Sent as `Authorization: Bearer`. */
  bearer?: string;
  /** Headers in addition to those of the other options. */
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  timeoutMilliseconds: number;
}

/** Sends one HTTP request. Does not follow redirects. @throws IDKIT_UNREACHABLE without a response in time */
export async function call(url: string, options: CallOptions): Promise<ServiceResponse> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (options.bearer !== undefined) headers['authorization'] = `Bearer ${options.bearer}`;
  try {
    if (options.form !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
    const response = await fetchService(url, {
      method: options.method ?? 'GET',
      headers,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMilliseconds)]),
      ...(options.form === undefined ? {} : { body: new URLSearchParams(options.form).toString() }),
    });
    return { status: response.status, headers: response.headers, text: await readText(response) };
  } catch (error) {
    const [address] = url.split('?');
    throw new IdkitError('IDKIT_UNREACHABLE', `${address} does not respond: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

async function readText({ body }: ArrivingResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > RESPONSE_LIMIT) throw new Error(`the response is longer than ${RESPONSE_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Returns the reason why a request failed, such as ECONNREFUSED or a bad certificate. If it tried several addresses,
 * returns the reason of the first one.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no response in time';
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error.message;
}

/** Parses the JSON object of a response. @throws Error with the status and the fault */
export function parseObject(answer: ServiceResponse, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(answer.text);
  } catch {
    throw new Error(`${what} responded with ${answer.status} and a body that is not JSON`);
  }
  if (!isJsonObject(value)) {
    throw new Error(`${what} responded with ${answer.status} and JSON that is not an object`);
  }
  return value;
}

/** Renders the status with `error: description` of an OAuth error response (RFC 6749 §5.2). */
export function renderRefusal(answer: ServiceResponse): string {
  try {
    const body = parseObject(answer, 'it');
    const parts = [body['error'], body['error_description'] ?? body['errorMessage']];
    const text = parts.filter((part) => typeof part === 'string').join(': ');
    return text === '' ? `${answer.status}` : `${answer.status} ${text}`;
  } catch {
    return `${answer.status}`;
  }
}
