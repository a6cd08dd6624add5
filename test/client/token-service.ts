import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';

/** A request that the test service received. */
export interface ReceivedRequest {
  method: string;
  path: string;
  form: Record<string, string>;
  body: string;
  authorization: string | undefined;
}

/** A response of the test service. `text` takes precedence over `json`. With `hang`, the service never responds. */
export interface Reply {
  status?: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
  hang?: true;
}

/**
 * Starts a service whose responses the test chooses, such as faults, delays, or those of a program that is not a token
 * service. The tests in test/journey use the real service.
 */
export async function startService(
  t: TestContext,
  respond: (request: ReceivedRequest) => Reply | Promise<Reply>,
): Promise<{ baseUrl: string; requests: readonly ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, requests, respond);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { baseUrl: `http://127.0.0.1:${address.port}`, requests };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ReceivedRequest[],
  respond: (request: ReceivedRequest) => Reply | Promise<Reply>,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const received: ReceivedRequest = {
    method: request.method ?? '',
    path: request.url ?? '',
    form: Object.fromEntries(new URLSearchParams(body)),
    body,
    authorization: request.headers.authorization,
  };
  requests.push(received);
  const reply = await respond(received);
  if (reply.hang) return;
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  response.end(reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json)));
}

/**
 * Returns a function that issues new tokens at each call.
 *
 * @param lifetime in seconds
 */
export function issuer(lifetime = 300): (request: ReceivedRequest) => Reply {
  let issued = 0;
  return () => {
    issued += 1;
    return {
      json: {
        access_token: `access-${issued}`,
        expires_in: lifetime,
        refresh_token: `refresh-${issued}`,
        refresh_expires_in: 1800,
        token_type: 'Bearer',
      },
    };
  };
}
