import { fetchService } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';

/** Longer answers are cut off: no document that smoke reads comes near it. In bytes. */
const ANSWER_LIMIT = 4 * 1024 * 1024;

/** What a service answered. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface CallOptions {
  method?: 'GET' | 'POST';
  form?: Readonly<Record<string, string>>;
  /** Sent as `Authorization: Bearer`. */
  bearer?: string;
  /** Beside those that follow from the rest. */
  headers?: Readonly<Record<string, string>>;
  signal: AbortSignal;
  timeoutMilliseconds: number;
}

/** One HTTP call without following redirects. @throws IDKIT_UNREACHABLE where no answer comes in time */
export async function call(url: string, options: CallOptions): Promise<Answer> {
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
    throw new IdkitError('IDKIT_UNREACHABLE', `${url} does not answer: ${describeFault(error)}`, {
      cause: error,
    });
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_LIMIT) throw new Error(`the answer is longer than ${ANSWER_LIMIT} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** fetch hides the reason (`ECONNREFUSED`, a certificate) in its cause. */
function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const cause = error.cause;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error ? cause.message : error.message;
}

/** The answer's JSON object. @throws Error that names status and what came instead */
export function parseObject(answer: Answer, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(answer.text);
  } catch {
    throw new Error(`${what} answered ${answer.status} with something that is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} answered ${answer.status} with JSON that is not an object`);
  }
  return value as Record<string, unknown>;
}

/** `error: description` of an OAuth error answer (RFC 6749 §5.2), or its status. */
export function describeRefusal(answer: Answer): string {
  try {
    const body = parseObject(answer, 'it');
    const parts = [body['error'], body['error_description'] ?? body['errorMessage']];
    const text = parts.filter((part) => typeof part === 'string').join(': ');
    return text === '' ? `${answer.status}` : `${answer.status} ${text}`;
  } catch {
    return `${answer.status}`;
  }
}
