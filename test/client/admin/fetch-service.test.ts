import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fetchService } from '../../../src/client/index.ts';

/** Serves one listener and returns its address. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, signal = AbortSignal.timeout(60_000)) =>
  fetchService(url, { method: 'GET', headers: {}, signal });

test('sends the method, the headers and the body, and returns the status, the headers and the text', async (t) => {
  const url = await serve(t, async (request, response) => {
    const received = Buffer.concat(await request.toArray()).toString();
    const { 'content-length': length, 'user-agent': agent, 'x-one': one } = request.headers;
    response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], location: '/there' });
    // A character of several bytes can arrive in two parts.
    const text = Buffer.from(JSON.stringify([request.method, length, agent, one, received]));
    const middle = text.indexOf(Buffer.from('ß')) + 1;
    response.write(text.subarray(0, middle), () => response.end(text.subarray(middle)));
  });
  const response = await fetchService(`${url}/path?a=b`, {
    method: 'PUT',
    headers: { 'x-one': '1' },
    body: 'Straße',
    signal: AbortSignal.timeout(60_000),
  });
  assert.deepEqual([response.status, response.location], [201, '/there']);
  assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
  assert.deepEqual(JSON.parse(await response.text()), ['PUT', '7', 'idkit', '1', 'Straße']);
});

test('does not follow a redirect', async (t) => {
  const paths: (string | undefined)[] = [];
  const url = await serve(t, (request, response) => {
    paths.push(request.url);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const response = await get(`${url}/here`);
  assert.deepEqual([response.status, response.location, await response.text()], [302, '/elsewhere', '']);
  assert.deepEqual(paths, ['/here']);
});

test('rejects a body that ends too early', async (t) => {
  const url = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('[1,2', () => response.destroy());
  });
  const response = await get(url);
  await assert.rejects(response.text(), { code: 'ECONNRESET' });
});

test('rejects with the reason of the signal: before the request, before the response and in the body', async (t) => {
  const reason = new Error('the operator pressed Ctrl-C');
  await assert.rejects(get('http://127.0.0.1:9', AbortSignal.abort(reason)), reason);

  const early = new AbortController();
  const silent = await serve(t, () => early.abort(reason));
  await assert.rejects(get(silent, early.signal), reason);

  const late = new AbortController();
  const halting = await serve(t, (_, response) => void response.write('half'));
  const response = await get(halting, late.signal);
  const text = response.text();
  late.abort(reason);
  await assert.rejects(text, reason);
});
