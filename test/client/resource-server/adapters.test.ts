import assert from 'node:assert/strict';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import express from 'express';
import { fastify } from 'fastify';
import {
  type BearerRefusal,
  expressBearer,
  fastifyBearer,
  getCaller,
  honoBearer,
  httpBearer,
  openResourceServer,
  type Requirement,
  type ResourceServer,
  webBearer,
} from '../../../src/client/resource-server/index.ts';
import { startIssuingService } from './issuing-service.ts';

const NEEDS = { realmRoles: ['writer'] };

async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/**
 * The same API in each framework. Every caller may use `/orders`, but only callers with the role `writer` may use
 * `/cancel`.
 */
const FRAMEWORKS: Record<string, (t: TestContext, api: ResourceServer) => Promise<string>> = {
  async Fastify(t, api) {
    const server = fastify();
    server.get('/orders', { onRequest: fastifyBearer(api) }, async (request) => ({
      caller: getCaller(request).username,
    }));
    server.get('/cancel', { onRequest: fastifyBearer(api, NEEDS) }, async () => ({ cancelled: true }));
    t.after(() => server.close());
    return server.listen({ port: 0, host: '127.0.0.1' });
  },
  async Express(t, api) {
    const app = express();
    app.get('/orders', expressBearer(api), (request, response) => {
      response.json({ caller: getCaller(request).username });
    });
    app.get('/cancel', expressBearer(api, NEEDS), (_, response) => {
      response.json({ cancelled: true });
    });
    return listen(t, createServer(app));
  },
  async 'node:http'(t, api) {
    const sendJson = (response: ServerResponse, body: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const orders = httpBearer(api, {}, (request: IncomingMessage, response: ServerResponse) =>
      sendJson(response, { caller: getCaller(request).username }),
    );
    const cancel = httpBearer(api, NEEDS, (_: IncomingMessage, response: ServerResponse) =>
      sendJson(response, { cancelled: true }),
    );
    return listen(
      t,
      createServer((request, response) => {
        void (request.url === '/cancel' ? cancel : orders)(request, response);
      }),
    );
  },
  async 'web handlers'(t, api) {
    const orders = webBearer(api, {}, (request) => Response.json({ caller: getCaller(request).username }));
    const cancel = webBearer(api, NEEDS, async () => Response.json({ cancelled: true }));
    return serveWeb(t, (request) => (request.url.endsWith('/cancel') ? cancel : orders)(request));
  },
  async 'the middleware of Hono'(t, api) {
    const [orders, cancel] = [honoBearer(api), honoBearer(api, NEEDS)];
    return serveWeb(t, async (raw) => {
      const isCancel = raw.url.endsWith('/cancel');
      let response: Response | undefined;
      // Hono runs the handler of the route in `next`, and uses the response that a middleware returns.
      const refused = await (isCancel ? cancel : orders)({ req: { raw } }, async () => {
        response = Response.json(isCancel ? { cancelled: true } : { caller: getCaller(raw).username });
      });
      return refused ?? response!;
    });
  },
};

/** Serves a handler of web requests. */
function serveWeb(t: TestContext, handle: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(incoming.headersDistinct))
      for (const value of values) headers.append(name, value);
    const response = await handle(new Request(`http://localhost${incoming.url}`, { headers }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  });
  return listen(t, server);
}

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  test(`${name}: responds with 200 to a valid token, otherwise with 401 invalid_token, 403 insufficient_scope or 503`, async (t) => {
    const service = await startIssuingService(t);
    const api = openResourceServer({
      issuer: service.issuer,
      audience: 'orders-api',
      keyCooldownSeconds: 0,
    });
    const address = await start(t, api);
    const get = async (path: string, token?: string) => {
      const response = await fetch(`${address}${path}`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
      return {
        status: response.status,
        challenge: response.headers.get('www-authenticate'),
        body: await response.json(),
      };
    };
    service.fail({ status: 500 });
    assert.deepEqual(await get('/orders', await service.sign()), {
      status: 503,
      challenge: null,
      body: { error: 'temporarily_unavailable' },
    });
    service.fail(undefined);
    assert.deepEqual(await get('/orders', await service.sign()), {
      status: 200,
      challenge: null,
      body: { caller: 'alice' },
    });
    const invalid = (why: string) => ({
      status: 401,
      challenge: `Bearer error="invalid_token", error_description="${why}"`,
      body: { error: 'invalid_token', error_description: why },
    });
    assert.deepEqual(await get('/orders'), invalid('the request has no bearer token'));
    assert.deepEqual(await get('/orders', 'nonsense'), invalid('the token is not a signed JWT'));
    assert.deepEqual(await get('/cancel'), invalid('the request has no bearer token'));
    const foreign = await service.sign({ aud: 'other-api' });
    assert.deepEqual(await get('/orders', foreign), invalid('the token is for another audience'));
    assert.deepEqual(await get('/cancel', await service.sign()), {
      status: 403,
      challenge: 'Bearer error="insufficient_scope"',
      body: { error: 'insufficient_scope' },
    });
    const several = await send(`${address}/orders`, [`Bearer ${await service.sign()}`, 'Bearer other']);
    assert.deepEqual(several, {
      status: 401,
      text: JSON.stringify(invalid('the request has several Authorization headers').body),
    });
    const inQuery = await get(`/orders?access_token=${await service.sign()}`);
    assert.deepEqual(inQuery, invalid('the request has no bearer token'));
    const writer = await service.sign({ realm_access: { roles: ['writer'] } });
    assert.deepEqual((await get('/cancel', writer)).body, { cancelled: true });
  });
}

/** Sends a request with several Authorization headers, which `fetch` would join. */
function send(url: string, authorization: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = get(
      url,
      { headers: ['host', new URL(url).host, ...authorization.flatMap((value) => ['authorization', value])] },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    request.on('error', reject);
  });
}

test('each adapter throws a TypeError for a misspelled requirement, which would admit every caller', async () => {
  const api = openResourceServer({ issuer: 'https://login.example/realms/x', audience: 'orders-api' });
  const bad: readonly unknown[] = [
    { roles: ['writer'] },
    { realmRoles: 'writer' },
    { scopes: [''] },
    { clientRoles: ['read'] },
    { clientRoles: { 'orders-api': 'read' } },
    null,
    () => {},
  ];
  for (const requirement of bad as Requirement[]) {
    const adapters = [
      () => fastifyBearer(api, requirement),
      () => expressBearer(api, requirement),
      () => httpBearer(api, requirement, () => {}),
      () => webBearer(api, requirement, () => new Response()),
      () => honoBearer(api, requirement),
    ];
    for (const open of adapters) assert.throws(open, { name: 'TypeError', message: /requirement/ });
    await assert.rejects(api.check('Bearer x', requirement), TypeError);
  }
});

test('a rejection of onRefusal fails the request, and does not end the process', async () => {
  const api = openResourceServer({ issuer: 'https://login.example/realms/x', audience: 'orders-api' });
  const fault = new Error('the log is full');
  const options = { onRefusal: () => Promise.reject(fault) };
  const plain = { headers: {} };
  const response = { writeHead: () => {}, end: () => {} };
  const { promise, resolve } = Promise.withResolvers<unknown>();
  expressBearer(api, {}, options)(plain, response, resolve);
  assert.equal(await promise, fault);
  await assert.rejects(httpBearer(api, {}, () => assert.fail(), options)(plain, response), fault);
  await assert.rejects(webBearer(api, {}, () => assert.fail(), options)(new Request('http://x/')), fault);
});

test('getCaller throws for a request that no adapter admitted', () => {
  assert.throws(() => getCaller({ headers: {} }), /no bearer check/);
});

test('each adapter reports a refusal with its reason and its request to onRefusal', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: 'orders-api' });
  const seen: [reason: string, request: unknown][] = [];
  const options = {
    onRefusal: ({ reason }: BearerRefusal, request: unknown) => void seen.push([reason, request]),
  };
  const plain = { headers: { authorization: 'Bearer x' } };
  const response = { writeHead: () => {}, end: () => {}, code: () => {}, headers: () => {}, send: () => {} };
  const web = new Request('http://localhost/');
  await fastifyBearer(api, NEEDS, options)(plain, response);
  const { promise, resolve } = Promise.withResolvers<void>();
  expressBearer(api, NEEDS, options)(plain, { ...response, end: () => resolve() }, () => assert.fail());
  await promise;
  await httpBearer(api, NEEDS, () => assert.fail(), options)(plain, response);
  await webBearer(api, NEEDS, () => assert.fail(), options)(web);
  await honoBearer(api, NEEDS, options)({ req: { raw: web } }, () => assert.fail());
  assert.deepEqual(seen, [
    ['malformed', plain],
    ['malformed', plain],
    ['malformed', plain],
    ['missing', web],
    ['missing', web],
  ]);
});
