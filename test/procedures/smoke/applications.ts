import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';

/** Starts an application with a health page and a page that needs a token of `issuer`. */
export async function startApplication(
  t: TestContext,
  issuer: string,
  fault?: 'sick' | 'open',
): Promise<string> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`));
  const server = createServer((request, response) => {
    if (request.url === '/health') {
      response.end(JSON.stringify({ status: fault === 'sick' ? 'DOWN' : 'UP' }));
      return;
    }
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    jwtVerify(token, keys, { issuer }).then(
      () => response.end('{"orders":[]}'),
      () => {
        if (fault !== 'open') {
          response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' });
        }
        response.end();
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
