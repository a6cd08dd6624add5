import * as oauth from 'oauth4webapi';
import { parseServiceUrl } from '../service-url.ts';
import { ClientError } from './client-error.ts';

/** Which service, as which client. */
export interface ProviderOptions {
  /** `{base_url}/realms/{realm}`, exactly as the service names itself. */
  issuer: string;
  clientId: string;
  /** Plain http is for this machine's loopback addresses alone, unless this is true. */
  allowHttp?: boolean;
  /** For one request to the service; 30,000 unless told. */
  timeoutMilliseconds?: number;
}

/** The endpoints of one service as functions; every failure is a ClientError. */
export interface Provider {
  readonly client: oauth.Client;
  /** The discovery document, fetched once; a failure is not kept. */
  server(): Promise<oauth.AuthorizationServer>;
  /**
   * Sends one request to the service and reads its answer.
   *
   * @throws ClientError `unreachable`, `refused` or `unexpected_answer`
   */
  ask<T>(send: (how: Transport) => Promise<Response>, read: (answer: Response) => Promise<T>): Promise<T>;
}

/** What every request takes along. */
export type Transport = { signal: () => AbortSignal; [oauth.allowInsecureRequests]: boolean };

/** @throws TypeError for an issuer that is no URL, or plain http to another machine */
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
      throw new ClientError('unreachable', `${issuer.origin} does not answer`, { cause });
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
 * The service's words as an error: 429 and 5xx say "later"; a 400 or 401, or any other with an OAuth error, says "no"
 * (specification, "Errors"). What a proxy says in between is no refusal.
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
    return new ClientError('unreachable', `the service answers ${words}`, details);
  }
  return status === 400 || status === 401 || error !== undefined
    ? new ClientError('refused', `the service refuses: ${words}`, details)
    : new ClientError('unexpected_answer', `the service answers ${words}`, details);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
