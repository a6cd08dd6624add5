import * as oauth from 'oauth4webapi';
import { parseServiceUrl } from '../service-url.ts';
import { ClientError } from './client-error.ts';

/** The service and the client that uses it. */
export interface ProviderOptions {
  /** `{base_url}/realms/{realm}`, exactly as in the service's own discovery document. */
  issuer: string;
  clientId: string;
  /** Allows plain http to other machines. Default: only to loopback addresses. */
  allowHttp?: boolean;
  /** For one request to the service. Default: 30,000. */
  timeoutMilliseconds?: number;
}

/** The endpoints of one service. Every failure is a ClientError. */
export interface Provider {
  readonly client: oauth.Client;
  /** Returns the discovery document. Fetches it once, and again after a failure. */
  server(): Promise<oauth.AuthorizationServer>;
  /**
   * Sends one request to the service and reads the response.
   *
   * @throws ClientError `unreachable`, `refused` or `unexpected_answer`
   */
  ask<T>(send: (how: Transport) => Promise<Response>, read: (answer: Response) => Promise<T>): Promise<T>;
}

/** The options of every request. */
export type Transport = { signal: () => AbortSignal; [oauth.allowInsecureRequests]: boolean };

/** @throws TypeError if the issuer is not a URL, or uses plain http to another machine */
export function openProvider(options: ProviderOptions): Provider {
  const issuer = parseServiceUrl(options.issuer, options.allowHttp);
  const how: Transport = {
    signal: () => AbortSignal.timeout(options.timeoutMilliseconds ?? 30_000),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
  };
  const ask: Provider['ask'] = async (send, read) => {
    let answer: Response;
    try {
      answer = await send(how);
    } catch (cause) {
      throw new ClientError('unreachable', `${issuer.origin} is unreachable`, { cause });
    }
    if (answer.status >= 400) throw await parseRefusal(answer);
    try {
      return await read(answer);
    } catch (cause) {
      throw new ClientError('unexpected_answer', `${issuer.origin}: ${messageOf(cause)}`, { cause });
    }
  };
  let found: Promise<oauth.AuthorizationServer> | undefined;
  return {
    client: { client_id: options.clientId },
    ask,
    server() {
      found ??= ask(
        (sent) => oauth.discoveryRequest(issuer, sent),
        (answer) => oauth.processDiscoveryResponse(issuer, answer),
      ).catch((error) => {
        found = undefined;
        throw error;
      });
      return found;
    },
  };
}

/**
 * Converts an error response. 429 and 5xx mean that a retry may succeed. 400, 401 and any OAuth error are refusals. Other
 * errors may come from a proxy and are not refusals.
 */
async function parseRefusal(answer: Response): Promise<ClientError> {
  const { status } = answer;
  const body = (await answer.json().catch(() => undefined)) as Record<string, unknown> | undefined;
  const error = text(body?.['error']);
  const errorDescription = text(body?.['error_description']);
  const details = {
    status,
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
  const words = [status, error, errorDescription].filter((word) => word !== undefined).join(' ');
  if (status === 429 || status >= 500) {
    return new ClientError('unreachable', `the service returned ${words}`, details);
  }
  return status === 400 || status === 401 || error !== undefined
    ? new ClientError('refused', `the service refused: ${words}`, details)
    : new ClientError('unexpected_answer', `the service returned ${words}`, details);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
