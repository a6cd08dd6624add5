import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** One request as the service got it. */
export interface Got {
  method: string;
  path: string;
  form: Record<string, string>;
  body: string;
  authorization: string | undefined;
}

/** An answer; `text` wins over `json`. `hang` never answers. */
export interface Reply {
  status?: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
  hang?: true;
}

/**
 * A service with answers of the test's own, for what no healthy service does: faults, delays, foreign programs.
 * The journey runs against the real one.
 */
export async function startService(
  t: TestContext,
  answer: (got: Got) => Reply | Promise<Reply>,
): Promise<{ baseUrl: string; got: readonly Got[] }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, got, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  got: Got[],
  answer: (got: Got) => Reply | Promise<Reply>,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const seen: Got = {
    method: request.method ?? '',
    path: request.url ?? '',
    form: Object.fromEntries(new URLSearchParams(body)),
    body,
    authorization: request.headers.authorization,
  };
  got.push(seen);
  const reply = await answer(seen);
  if (reply.hang) return;
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  response.end(reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json)));
}

/** Tokens as a service gives them; each call gives new ones. */
export function issuer(lifetime = 300): (got: Got) => Reply {
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
