import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { form, login, sendRaw, startTestService, type TestService, tokenUrl } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

async function ask(
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const answer = await fetch(`${service.address}${path}`, { redirect: 'manual', ...init });
  const text = await answer.text();
  const json = (answer.headers.get('content-type') ?? '').startsWith('application/json');
  return {
    status: answer.status,
    body: json && text !== '' ? JSON.parse(text) : text,
    headers: answer.headers,
  };
}

/**
 * Matches the end of a JSON response. The tests stop reading there, because the server keeps the connection open for
 * the rest of the request.
 */
const ANSWERED = /\r\n\r\n[\s\S]*\}$/;

/** Sends a path without the normalization that HTTP clients apply. */
async function askRaw(path: string): Promise<{ status: number; body: unknown }> {
  const text = await sendRaw(service.address, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const [head, body] = text.split('\r\n\r\n', 2);
  return { status: Number(head!.split(' ')[1]), body: JSON.parse(body!) };
}

test('responds to an unknown path with 404 and Keycloak’s general error body (docs/keycloak/errors.md#unknown-realms-and-paths)', async () => {
  const { status, body } = await ask('/no/such/path');
  assert.equal(status, 404);
  assert.deepEqual(body, { error: 'Unable to find matching target resource method' });
});

test('responds to an unknown realm with 404 "Realm does not exist", whatever the rest of the path is', async () => {
  for (const path of [
    '/realms/nobody',
    '/realms/nobody/protocol/openid-connect/certs',
    '/realms/nobody/x/y',
  ]) {
    const { status, body } = await ask(path);
    assert.equal(status, 404, path);
    assert.deepEqual(body, { error: 'Realm does not exist' }, path);
  }
});

test('distinguishes unknown protocols, endpoints and well-known names, as Keycloak does', async () => {
  assert.deepEqual((await ask('/realms/master/protocol/openid/token', { method: 'POST' })).body, {
    error: 'Protocol not found',
  });
  assert.equal((await ask('/realms/master/protocol/openid-connect/tokens', { method: 'POST' })).status, 405);
  assert.deepEqual((await ask('/realms/master/.well-known/nonsense')).body, { error: 'HTTP 404 Not Found' });
  const discovery = '/realms/master/.well-known/openid-configuration';
  assert.equal((await ask(discovery, { method: 'POST' })).status, 404);
});

test('responds with 405, without Allow, to a method that the URL does not support', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const { status, body, headers } = await ask('/realms/master/protocol/openid-connect/token', { method });
    assert.equal(status, 405, method);
    assert.deepEqual(body, { error: 'HTTP 405 Method Not Allowed' });
    assert.equal(headers.get('allow'), null);
  }
});

test('responds to an unsupported method of an administrative URL with 405 for authorized callers, and with 401 otherwise', async () => {
  const path = '/admin/realms/master/users';
  assert.equal((await ask(path, { method: 'PUT' })).status, 401);
  const { access_token: token } = await login(service);
  const { status, body } = await ask(path, { method: 'PUT', headers: { authorization: `Bearer ${token}` } });
  assert.equal(status, 405);
  assert.deepEqual(body, { error: 'HTTP 405 Method Not Allowed' });
});

test('sends a page if a browser requests an unknown path', async () => {
  const { status, body, headers } = await ask('/realms/nobody', { headers: { accept: 'text/html' } });
  assert.equal(status, 404);
  assert.match(headers.get('content-type')!, /^text\/html/);
  assert.match(String(body), /We are sorry/);
  assert.match(headers.get('content-security-policy')!, /default-src 'none'/);
});

test('responds with 400 to a path that is not normalized (docs/keycloak/errors.md#path-normalization)', async () => {
  for (const path of [
    '/realms//master',
    '/realms/../admin',
    '/realms/x/%2e%2E/y',
    '/./realms/master',
    '/realms/..',
  ]) {
    const { status, body } = await askRaw(path);
    assert.equal(status, 400, path);
    assert.deepEqual(
      body,
      { error: 'missingNormalization', error_description: 'Request path not normalized' },
      path,
    );
  }
});

test('responds with 400 to a path with a semicolon (docs/keycloak/errors.md#path-normalization)', async () => {
  const { status, body } = await ask('/realms/master;x=1');
  assert.equal(status, 400);
  assert.deepEqual(body, {
    error: 'invalidCharacter',
    error_description: "Request path contains invalid character ';'",
  });
});

test('responds with 400 to a NUL byte in the path or query, and says which of them contains it', async () => {
  for (const path of ['/realms/mas%00ter', '/realms/master?x=%00']) {
    const { status, body } = await ask(path);
    assert.equal(status, 400, path);
    assert.match(JSON.stringify(body), /NUL byte/);
  }
});

test('treats a realm name that contains a path as an unknown realm', async () => {
  for (const name of ['..%2fmaster', '%2e%2e%2fx', 'a%5cb', 'x'.repeat(3000)]) {
    const { status } = await ask(`/realms/${name}`);
    assert.ok(status === 404 || status === 400, `${name.slice(0, 20)}: ${status}`);
  }
});

test('responds with 400 to a broken percent escape', async () => {
  assert.equal((await ask('/realms/%zz')).status, 400);
});

test('accepts a slash at the end of a path', async () => {
  assert.equal((await ask('/realms/master/')).status, 200);
});

test('responds to HEAD as to GET, without a body', async () => {
  const { status, body, headers } = await ask('/realms/master/.well-known/openid-configuration', {
    method: 'HEAD',
  });
  assert.equal(status, 200);
  assert.equal(body, '');
  assert.ok(Number(headers.get('content-length')) > 100);
});

test('every response has the security headers, even an error (docs/keycloak/errors.md#security-headers)', async () => {
  for (const path of ['/realms/master', '/realms/nobody', '/nothing', '/admin/realms', '/health/live']) {
    const { headers } = await ask(path);
    assert.equal(headers.get('x-frame-options'), 'SAMEORIGIN', path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains', path);
    assert.equal(headers.get('x-robots-tag'), 'none', path);
    assert.equal(headers.get('x-powered-by'), null);
  }
});

test('rejects a body above 1 MiB with 413, in the error format of each interface (docs/reference/http.md#limits-of-requests)', async () => {
  const body = 'x'.repeat(1024 * 1024 + 1);
  const oidc = await ask('/realms/master/protocol/openid-connect/token', { method: 'POST', body });
  assert.equal(oidc.status, 413);
  assert.equal((oidc.body as { error: string }).error, 'invalid_request');
  assert.match((oidc.body as { error_description: string }).error_description, /1048576 bytes/);
});

test('rejects a chunked body above 1 MiB with 413', async () => {
  const status = await new Promise<number>((resolve, reject) => {
    const sent = request(tokenUrl(service), { method: 'POST' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    });
    sent.on('error', reject);
    for (let n = 0; n < 20; n++) sent.write(Buffer.alloc(100_000, 'x'));
    sent.end();
  });
  assert.equal(status, 413);
});

test('the administrative API rejects a large body of an unauthorized caller before it reads the body', async () => {
  const head =
    'POST /admin/realms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${50 * 1024 * 1024}\r\n\r\n{`;
  const text = await sendRaw(service.address, head, { enough: ANSWERED });
  assert.match(text, /^HTTP\/1\.1 401 /);
  assert.match(text, /HTTP 401 Unauthorized/);
});

test('the administrative API accepts a body above 1 MiB of an authorized caller, and rejects one above 64 MiB', async () => {
  const { access_token: token } = await login(service);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const large = await ask('/admin/realms', {
    method: 'POST',
    headers,
    body: `"${'x'.repeat(2 * 1024 * 1024)}"`,
  });
  assert.equal(large.status, 400);
  const head =
    `POST /admin/realms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${65 * 1024 * 1024}\r\n\r\n{`;
  const tooLarge = await sendRaw(service.address, head, { enough: ANSWERED });
  assert.match(tooLarge, /^HTTP\/1\.1 413 /);
  assert.match(tooLarge, /"errorMessage"/);
});

test('the token endpoint treats a body of another content type as an empty form (docs/keycloak/errors.md#content-types)', async () => {
  for (const type of ['application/json', 'text/plain', 'nonsense', 'APPLICATION/X-WWW-FORM-URLENCODED']) {
    const { status, body } = await ask('/realms/master/protocol/openid-connect/token', {
      method: 'POST',
      headers: { 'content-type': type },
      body: 'grant_type=password',
    });
    assert.equal(status, 400, type);
    assert.deepEqual(body, {
      error: 'invalid_request',
      error_description: 'Missing form parameter: grant_type',
    });
  }
});

test('responds with 400 to bytes that are not HTTP and with 431 to large headers, and keeps running', async () => {
  assert.match(await sendRaw(service.address, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 Bad Request\r\n/);
  const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`;
  assert.match(await sendRaw(service.address, large), /^HTTP\/1\.1 431 /);
  assert.equal((await ask('/health/live')).status, 200);
});

test('keeps running after an incomplete body', async () => {
  const text = await sendRaw(
    service.address,
    'POST /realms/master/protocol/openid-connect/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ngrant',
    { milliseconds: 200 },
  );
  assert.equal(text, '');
  assert.equal((await ask('/health/live')).status, 200);
});

test('a line break in the input never adds a header to the response', async () => {
  const evil = 'x%0d%0aSet-Cookie:%20evil=1';
  const paths = [
    `/realms/${evil}`,
    `/realms/master/protocol/openid-connect/${evil}`,
    `/?${evil}`,
    `/admin/realms/${evil}`,
  ];
  for (const path of paths) {
    const { headers } = await ask(path, { headers: { origin: 'https://x.example' } });
    assert.equal(headers.get('set-cookie'), null, path);
  }
  const answer = await fetch(
    tokenUrl(service),
    form({ grant_type: decodeURIComponent(evil), client_id: 'admin-cli' }),
  );
  assert.equal(answer.headers.get('set-cookie'), null);
  assert.equal(answer.status, 400);
});

test('the Host header never appears in a response', async () => {
  const text = await sendRaw(
    service.address,
    'GET /realms/master/.well-known/openid-configuration HTTP/1.1\r\nHost: evil.example\r\n' +
      'X-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n',
  );
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(text, /evil/);
  assert.ok(text.includes(`"issuer":"${service.address}/realms/master"`));
});

test('responses with secrets or personal data forbid caching, and public documents vary by origin', async () => {
  const { access_token } = await login(service);
  const headers = { authorization: `Bearer ${access_token}` };
  const clients = `${service.address}/admin/realms/master/clients`;
  const [client] = (await (await fetch(`${clients}?clientId=admin-cli`, { headers })).json()) as [
    { id: string },
  ];
  const answer = await fetch(`${clients}/${client.id}/client-secret`, { headers });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('cache-control'), 'no-cache, no-store');
  for (const path of ['/realms/master', '/realms/master/protocol/openid-connect/certs']) {
    const published = await fetch(`${service.address}${path}`);
    assert.equal(published.headers.get('vary'), 'Origin', path);
  }
});
