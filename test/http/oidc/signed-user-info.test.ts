import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { administrator, helper, loginAs } from '../administrator.ts';
import { startTestService, type TestService } from '../service.ts';

let service: TestService;
const client = (clientId: string, algorithm: string) => ({
  clientId,
  publicClient: true,
  directAccessGrantsEnabled: true,
  attributes: { 'user.info.response.signature.alg': algorithm },
});

before(async () => {
  service = await startTestService();
  const admin = await administrator(service);
  const made = await admin('POST', '', { realm: 'acme', enabled: true, users: [helper('alice')] });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  for (const one of [client('signed', 'RS256'), client('curve', 'ES256'), client('plain', '')])
    assert.equal((await admin('POST', '/acme/clients', one)).status, 201);
});
after(() => service.stop());

async function ask(clientId: string) {
  const fields = { client_id: clientId, username: 'alice', password: 'pw', scope: 'openid' };
  const { body } = await loginAs(service, 'acme', fields);
  const headers = { authorization: `Bearer ${body['access_token']}` };
  return fetch(`${service.address}/realms/acme/protocol/openid-connect/userinfo`, { headers });
}

test('a client that requires signed user info gets a JWT (OpenID Connect Core §5.3.2)', async () => {
  const issuer = `${service.address}/realms/acme`;
  const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`));
  const { sub, email } = (await (await ask('plain')).json()) as Record<string, string>;
  for (const [audience, algorithm] of [
    ['signed', 'RS256'],
    ['curve', 'ES256'],
  ] as const) {
    const answer = await ask(audience);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/jwt');
    const { payload } = await jwtVerify(await answer.text(), keys, {
      issuer,
      audience,
      algorithms: [algorithm],
    });
    assert.equal(payload.sub, sub);
    assert.equal(payload['email'], email);
  }
});

test('every other client gets user info as JSON', async () => {
  assert.equal((await ask('plain')).headers.get('content-type'), 'application/json');
});
