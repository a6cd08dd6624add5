import * as oauth from 'oauth4webapi';
import { parseServiceUrl } from '../service-url.ts';
import { ClientError } from './client-error.ts';

/** The service and the client that an application uses. */
export interface ProviderOptions {
  /** `{base_url}/realms/{realm}`, as in the discovery document. An https address, or http to a loopback address. */
  issuer: string;
  clientId: string;
  /** Whether plain http is allowed to every host. Default: false, which allows it only to loopback addresses. */
  allowHttp?: boolean;
  /** Timeout of one request to the service in milliseconds. Default: 30,000. */
  timeoutMilliseconds?: number;
}

/**
 * Returns an option that is a number from 0 to `most`, or its default.
 *
 * @throws TypeError with the name of the option
 */
export function readNumber<N extends string>(
  options: { readonly [name in N]?: number },
  name: N,
  standard: number,
  most: number,
): number {
  const value: number = options[name] ?? standard;
  if (Number.isFinite(value) && value >= 0 && value <= most) return value;
  throw new TypeError(`${name} is ${value}, not from 0 to ${most}`);
}

/** Returns the timeout of a request in milliseconds. A timer cannot be longer. @throws TypeError */
export function requestTimeout(options: ProviderOptions): number {
  return readNumber(options, 'timeoutMilliseconds', 30_000, 2 ** 31 - 1);
}

/** Sends requests to one service and turns each failure into a ClientError. */
export interface Provider {
  readonly client: oauth.Client;
  /**
   * Returns the discovery document, which is fetched once. If the request fails, the next call tries again.
   *
   * @throws ClientError `unreachable`, `refused` or `unexpected_answer`
   */
  server(): Promise<oauth.AuthorizationServer>;
  /**
   * Sends one request to the service and returns what `read` extracts from the response.
   *
   * @param timeout in milliseconds. Default: that of the options
   * @throws ClientError `unreachable`, `refused` or `unexpected_answer`
   * @throws TypeError if the application passed a wrong value, such as an empty refresh token
   */
  request<T>(
    send: (transport: Transport) => Promise<Response>,
    read: (response: Response) => Promise<T>,
    timeout?: number,
  ): Promise<T>;
}

/** The options that every request passes to oauth4webapi: a new timeout signal, and whether plain http is allowed. */
export type Transport = { signal: () => AbortSignal; [oauth.allowInsecureRequests]: boolean };

/**
 * Returns the provider at `issuer`, without sending a request.
 *
 * @throws TypeError if the issuer is not a URL, or is plain http to another host without `allowHttp`, or if the timeout
 * is out of range
 */
export function openProvider(options: ProviderOptions): Provider {
  const issuer = parseServiceUrl(options.issuer, options.allowHttp);
  const standard = requestTimeout(options);
  const request: Provider['request'] = async (send, read, timeout = standard) => {
    let response: Response;
    try {
      response = await send({
        signal: () => AbortSignal.timeout(Math.ceil(timeout)),
        [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
      });
    } catch (cause) {
      // oauth4webapi rejects a wrong argument before it sends the request.
      if (isArgumentError(cause)) throw cause;
      throw new ClientError('unreachable', `${issuer.origin} does not respond`, { cause });
    }
    if (response.status >= 400) throw await parseRefusal(response);
    try {
      return await read(response);
    } catch (cause) {
      throw new ClientError('unexpected_answer', `${issuer.origin}: ${messageOf(cause)}`, {
        cause: withoutContent(cause),
      });
    }
  };
  let discovery: Promise<oauth.AuthorizationServer> | undefined;
  return {
    client: { client_id: options.clientId },
    request,
    server() {
      discovery ??= request(
        (options) => oauth.discoveryRequest(issuer, options),
        (response) => oauth.processDiscoveryResponse(issuer, response),
      ).catch((error) => {
        discovery = undefined;
        throw error;
      });
      return discovery;
    },
  };
}

/**
 * Converts an error response into a ClientError. The statuses 429 and 5xx become `unreachable`, because a later request
 * can succeed. The statuses 400 and 401, and any response with an OAuth `error`, become `refused`. Every other
 * response, such as a proxy's 404 page, becomes `unexpected_answer`.
 */
async function parseRefusal(response: Response): Promise<ClientError> {
  const { status } = response;
  // Undefined if the body is not JSON. A JSON value other than an object has none of the members that are read below.
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | null | undefined;
  const error = text(body?.['error']);
  const errorDescription = text(body?.['error_description']);
  const details = {
    status,
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
  const words = [status, error, errorDescription].filter((word) => word !== undefined).join(' ');
  if (status === 429 || status >= 500) {
    return new ClientError('unreachable', `the service responded: ${words}`, details);
  }
  return status === 400 || status === 401 || error !== undefined
    ? new ClientError('refused', `the service rejected the request: ${words}`, details)
    : new ClientError('unexpected_answer', `the service responded: ${words}`, details);
}

function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_INVALID_ARG_');
}

/**
 * Copies the name, the message and the code of an error. The errors of oauth4webapi also have the response as their
 * cause, and a log that prints an error with its causes would contain the tokens.
 */
export function withoutContent(error: unknown): Error {
  const { name, message, code } = error as Error & { code?: unknown };
  return Object.assign(new Error(message), { name, code });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
