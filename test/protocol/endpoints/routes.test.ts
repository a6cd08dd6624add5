import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { form, login, startTestService, type TestService } from '../../http/service.ts';

const base = '/realms/master/protocol/openid-connect';
let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${service.address}${path}`, { redirect: 'manual', ...init });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text };
}
const header = (answer: { headers: Headers }, name: string) => answer.headers.get(name);

describe('the URL table', () => {
  it('responds with 501 instead of 404 to an endpoint of Keycloak that idkit does not have, and names the path', async () => {
    for (const [method, path] of [
      ['POST', `${base}/auth/device?client_id=x`],
      ['POST', `${base}/ext/par/request`],
      ['GET', `${base}/registrations`],
      ['POST', '/realms/master/clients-registrations/openid-connect'],
    ] as const) {
      const answer = await ask(path, { method });
      assert.equal(answer.status, 501, path);
      const body = JSON.parse(answer.text);
      assert.equal(body.error, 'not_implemented');
      assert.match(body.error_description, / is not implemented yet: \/realms\/master\//);
      assert.ok(!body.error_description.includes('client_id'));
    }
  });

  it('responds with 404 to an unknown realm, even at an endpoint that idkit does not have', async () => {
    const answer = await ask('/realms/nowhere/protocol/openid-connect/registrations');
    assert.equal(answer.status, 404);
  });

  it('accepts a logout with a refresh token, and shows a page for a logout in the browser', async () => {
    const { refresh_token } = await login(service);
    const fields = { client_id: 'admin-cli', refresh_token: refresh_token! };
    const answer = await ask(`${base}/logout`, form(fields));
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assert.equal(header(answer, 'cache-control'), 'no-cache');
    const page = await ask(`${base}/logout`, form({ client_id: 'admin-cli' }));
    assert.equal(page.status, 200);
    assert.match(page.text, /id="kc-logout"/);
  });

  it('sets Cache-Control and Pragma on every response of the token endpoint (RFC 6749 §5.1)', async () => {
    const wrong = { grant_type: 'password', client_id: 'admin-cli', username: 'x', password: 'y' };
    for (const fields of [{}, wrong]) {
      const answer = await ask(`${base}/token`, form(fields as Record<string, string>));
      assert.equal(answer.status, 400);
      assert.equal(header(answer, 'cache-control'), 'no-store');
      assert.equal(header(answer, 'pragma'), 'no-cache');
    }
  });

  it('accepts a trailing slash on the token path', async () => {
    const answer = await ask(`${base}/token/`, form({}));
    assert.match(answer.text, /Missing form parameter: grant_type/);
  });

  it('lists the methods of the URL in the response to a plain OPTIONS, and to a preflight from any origin', async () => {
    const origin = 'https://any.example.test';
    for (const [path, methods] of [
      ['token', 'OPTIONS, POST'],
      ['revoke', 'OPTIONS, POST'],
      ['userinfo', 'GET, HEAD, OPTIONS'],
      ['logout', 'GET, HEAD, OPTIONS'],
      ['certs', 'GET'],
    ] as const) {
      const answer = await ask(`${base}/${path}`, { method: 'OPTIONS', headers: { origin } });
      assert.equal(answer.status, 200, path);
      assert.equal(header(answer, 'access-control-allow-origin'), origin);
      assert.equal(header(answer, 'access-control-allow-methods'), methods);
      assert.equal(header(answer, 'access-control-max-age'), '3600');
    }
    const plain = await ask(`${base}/token`, { method: 'OPTIONS' });
    assert.equal(plain.status, 200);
    assert.equal(header(plain, 'access-control-allow-origin'), null);
    const introspect = await ask(`${base}/token/introspect`, { method: 'OPTIONS', headers: { origin } });
    assert.equal(header(introspect, 'allow'), 'HEAD, POST, OPTIONS');
    assert.equal(header(introspect, 'access-control-allow-origin'), null);
  });

  it("allows pages of every origin to read keys and discovery, and sends Keycloak's cache headers", async () => {
    const headers = { origin: 'https://any.example.test' };
    const certs = await ask(`${base}/certs`, { headers });
    assert.equal(header(certs, 'cache-control'), 'no-cache');
    assert.equal(header(certs, 'access-control-allow-origin'), headers.origin);
    for (const path of [
      '/realms/master/.well-known/openid-configuration',
      '/realms/master/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/realms/master',
    ]) {
      const answer = await ask(path, { headers });
      assert.equal(JSON.parse(answer.text).issuer, `${service.baseUrl}/realms/master`, path);
      assert.equal(header(answer, 'access-control-allow-origin'), headers.origin);
      assert.equal(header(answer, 'cache-control'), 'must-revalidate, no-cache, no-store, no-transform');
    }
  });

  it('reports a user info error only in WWW-Authenticate, with the realm of the path', async () => {
    const headers = { authorization: 'Bearer garbage' };
    const answer = await ask(`${base}/userinfo`, { headers });
    assert.equal(answer.status, 401);
    assert.equal(answer.text, '');
    assert.equal(
      header(answer, 'www-authenticate'),
      'Bearer realm="master", error="invalid_token", error_description="Token verification failed"',
    );
  });

  it('does not use the Host header for the issuer', async () => {
    const answer = await ask('/realms/master', { headers: { 'x-forwarded-host': 'evil.example.test' } });
    assert.ok(!answer.text.includes('evil'));
  });

  it('responds to a malformed form with 400, in the error format of the endpoint', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const body of ['grant_type=client_credentials&client_id=%zz', 'grant_type=a%00b']) {
      const answer = await ask(`${base}/token`, { method: 'POST', headers, body });
      assert.equal(answer.status, 400);
      assert.equal(JSON.parse(answer.text).error, 'invalid_request');
    }
  });
});
