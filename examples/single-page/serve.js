// Serves the single-page application. esbuild bundles app.js with idkit/client. The policy of the page allows connections
// to the service and the API alone. Reports of the page are printed.
//
//   node examples/single-page/serve.js

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { build } from 'esbuild';

const { BASE_URL = 'http://127.0.0.1:8080', REALM = 'example', API = 'http://127.0.0.1:4000' } = process.env;
const { PORT = '3000' } = process.env;

const { outputFiles } = await build({
  entryPoints: [new URL('app.js', import.meta.url).pathname],
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  // Tests use the library's source.
  conditions: (process.env.CONDITIONS ?? '').split(',').filter(Boolean),
});
const files = {
  '/': ['text/html', readFileSync(new URL('index.html', import.meta.url))],
  '/app.js': ['text/javascript', outputFiles[0].contents],
  '/config.json': ['application/json', JSON.stringify({ issuer: `${BASE_URL}/realms/${REALM}`, api: API })],
};
const policy = [
  "default-src 'none'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  `connect-src 'self' ${new URL(BASE_URL).origin} ${new URL(API).origin}`,
].join('; ');

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (request.method === 'POST' && pathname === '/reports') {
    const parts = [];
    for await (const part of request) parts.push(part);
    console.log(`reported: ${Buffer.concat(parts)}`);
    return response.writeHead(204).end();
  }
  const [type, content] = files[pathname] ?? ['text/plain', undefined];
  response.writeHead(content === undefined ? 404 : 200, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(content ?? 'Not found.');
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`the shop is on http://localhost:${server.address().port}/`);
});
