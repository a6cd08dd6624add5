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

/** The end of an answer in JSON, whose server waits for the rest of the request. */
const ANSWERED = /\r\n\r\n[\s\S]*\}$/;

/** A path that an HTTP client would tidy up is sent as it stands. */
async function askRaw(path: string): Promise<{ status: number; body: unknown }> {
  const text = await sendRaw(service.address, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const [head, body] = text.split('\r\n\r\n', 2);
  return { status: Number(head!.split(' ')[1]), body: JSON.parse(body!) };
}

test('a path that nothing serves is 404 in the global shape (facts §1)', async () => {
  const { status, body } = await ask('/no/such/path');
  assert.equal(status, 404);
  assert.deepEqual(body, { error: 'Unable to find matching target resource method' });
});

test('an unknown realm is 404 "Realm does not exist", whatever follows (facts §1)', async () => {
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

test('an unknown protocol, endpoint or well-known name has its own answer (observed/token-endpoint)', async () => {
  assert.deepEqual((await ask('/realms/master/protocol/openid/token', { method: 'POST' })).body, {
    error: 'Protocol not found',
  });
  assert.equal((await ask('/realms/master/protocol/openid-connect/tokens', { method: 'POST' })).status, 405);
  assert.deepEqual((await ask('/realms/master/.well-known/nonsense')).body, { error: 'HTTP 404 Not Found' });
  const discovery = '/realms/master/.well-known/openid-configuration';
  assert.equal((await ask(discovery, { method: 'POST' })).status, 404, 'facts §5.7');
});

test('a method that a URL does not take is 405 without Allow (facts §1)', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const { status, body, headers } = await ask('/realms/master/protocol/openid-connect/token', { method });
    assert.equal(status, 405, method);
    assert.deepEqual(body, { error: 'HTTP 405 Method Not Allowed' });
    assert.equal(headers.get('allow'), null);
  }
});

test('a method that an administrative URL does not take is 405 for those with a token, 401 without one', async () => {
  const path = '/admin/realms/master/users';
  assert.equal((await ask(path, { method: 'PUT' })).status, 401);
  const { access_token: token } = await login(service);
  const { status, body } = await ask(path, { method: 'PUT', headers: { authorization: `Bearer ${token}` } });
  assert.equal(status, 405);
  assert.deepEqual(body, { error: 'HTTP 405 Method Not Allowed' });
});

test('a page is answered where a browser asks for an unknown path (facts §1)', async () => {
  const { status, body, headers } = await ask('/realms/nobody', { headers: { accept: 'text/html' } });
  assert.equal(status, 404);
  assert.match(headers.get('content-type')!, /^text\/html/);
  assert.match(String(body), /We are sorry/);
  assert.match(headers.get('content-security-policy')!, /default-src 'none'/);
});

test('a path that is not normalised is 400 (facts §1, [26.5])', async () => {
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

test('a path with a semicolon is 400 (facts §1, [26.6])', async () => {
  const { status, body } = await ask('/realms/master;x=1');
  assert.equal(status, 400);
  assert.deepEqual(body, {
    error: 'invalidCharacter',
    error_description: "Request path contains invalid character ';'",
  });
});

test('a NUL byte in path or query is 400 and the input is named (contract §5)', async () => {
  for (const path of ['/realms/mas%00ter', '/realms/master?x=%00']) {
    const { status, body } = await ask(path);
    assert.equal(status, 400, path);
    assert.match(JSON.stringify(body), /NUL byte/);
  }
});

test('a realm name that is a path is an unknown realm', async () => {
  for (const name of ['..%2fmaster', '%2e%2e%2fx', 'a%5cb', 'x'.repeat(3000)]) {
    const { status } = await ask(`/realms/${name}`);
    assert.ok(status === 404 || status === 400, `${name.slice(0, 20)}: ${status}`);
  }
});

test('a broken percent escape is 400', async () => {
  assert.equal((await ask('/realms/%zz')).status, 400);
});

test('a trailing slash is accepted (facts §3.1)', async () => {
  assert.equal((await ask('/realms/master/')).status, 200);
});

test('HEAD answers as GET does, without a body', async () => {
  const { status, body, headers } = await ask('/realms/master/.well-known/openid-configuration', {
    method: 'HEAD',
  });
  assert.equal(status, 200);
  assert.equal(body, '');
  assert.ok(Number(headers.get('content-length')) > 100);
});

test('every answer has the security headers, errors too (facts §12)', async () => {
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

test('a body above 1 MiB is 413 in the shape of its interface (contract §5)', async () => {
  const body = 'x'.repeat(1024 * 1024 + 1);
  const oidc = await ask('/realms/master/protocol/openid-connect/token', { method: 'POST', body });
  assert.equal(oidc.status, 413);
  assert.equal((oidc.body as { error: string }).error, 'invalid_request');
  assert.match((oidc.body as { error_description: string }).error_description, /1048576 bytes/);
});

test('a chunked body above 1 MiB is 413 as well', async () => {
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

test('a large body of an unproved caller of the admin API is refused before it is read (contract §5)', async () => {
  const head =
    'POST /admin/realms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${50 * 1024 * 1024}\r\n\r\n{`;
  const text = await sendRaw(service.address, head, { enough: ANSWERED });
  assert.match(text, /^HTTP\/1\.1 401 /);
  assert.match(text, /HTTP 401 Unauthorized/);
});

test('the admin API takes a body above 1 MiB of a proved caller and refuses one above 64 MiB', async () => {
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

test('a wrong content type is no 415 on the token endpoint: the form is empty (facts §3.1)', async () => {
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

test('bytes that are no HTTP get 400 and headers that are too large 431, and the service lives on', async () => {
  assert.match(await sendRaw(service.address, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 Bad Request\r\n/);
  const large = `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`;
  assert.match(await sendRaw(service.address, large), /^HTTP\/1\.1 431 /);
  assert.equal((await ask('/health/live')).status, 200);
});

test('a body that is cut off does not end the service', async () => {
  const text = await sendRaw(
    service.address,
    'POST /realms/master/protocol/openid-connect/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ngrant',
    { milliseconds: 200 },
  );
  assert.equal(text, '');
  assert.equal((await ask('/health/live')).status, 200);
});

test('a line break in any input never becomes a header of the answer', async () => {
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

test('the host header never reaches an answer (contract §1: baseUrl is never taken from request headers)', async () => {
  const text = await sendRaw(
    service.address,
    'GET /realms/master/.well-known/openid-configuration HTTP/1.1\r\nHost: evil.example\r\n' +
      'X-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n',
  );
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(text, /evil/);
  assert.ok(text.includes(`"issuer":"${service.address}/realms/master"`));
});

test('a secret, and what is about a person, is kept by no cache; public documents once for each origin', async () => {
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
