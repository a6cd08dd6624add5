import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Platform, REALM, startPlatform } from './platform.ts';

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.stop());

async function discovery(): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(`${platform.issuer}/.well-known/openid-configuration`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

function list(document: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  assert.ok(Array.isArray(document[name]), `${name} is not an array`);
  return document[name];
}

describe('requirements of the profile Config OP', () => {
  test('discovery lists RS256 for ID tokens, the subject types, the response types and the code challenge methods (Discovery 3)', async () => {
    const document = await discovery();
    assert.ok(list(document, 'id_token_signing_alg_values_supported').includes('RS256'));
    assert.ok(list(document, 'subject_types_supported').includes('public'));
    assert.ok(list(document, 'response_types_supported').includes('code'));
    assert.deepEqual(list(document, 'code_challenge_methods_supported'), ['plain', 'S256']);
  });

  test('discovery lists RS256 even if the realm signs with another algorithm (Discovery 3)', async () => {
    const { admin } = platform;
    const before = (await admin('GET', `/${REALM}`)).json;
    const changed = await admin('PUT', `/${REALM}`, { ...before, defaultSignatureAlgorithm: 'ES256' });
    assert.equal(changed.status, 204);
    try {
      assert.ok(list(await discovery(), 'id_token_signing_alg_values_supported').includes('RS256'));
    } finally {
      await admin('PUT', `/${REALM}`, before);
    }
  });

  test('discovery lists scopes, claims, user info and RS256 for request objects (Discovery 3)', async () => {
    const document = await discovery();
    for (const scope of ['openid', 'profile', 'email', 'address', 'phone', 'offline_access'])
      assert.ok(list(document, 'scopes_supported').includes(scope), scope);
    for (const claim of ['sub', 'iss', 'auth_time', 'name', 'email'])
      assert.ok(list(document, 'claims_supported').includes(claim), claim);
    assert.equal(document['userinfo_endpoint'], `${platform.protocol}/userinfo`);
    assert.ok(list(document, 'request_object_signing_alg_values_supported').includes('RS256'));
  });

  test('discovery lists an endpoint, grant or response mode only if the service accepts it (Discovery 3)', async () => {
    const document = await discovery();
    const urls = Object.entries(document).filter(
      ([name]) => /_endpoint$|_uri$|_iframe$/.test(name) && !name.startsWith('require_'),
    );
    assert.ok(urls.length >= 8);
    for (const [name, url] of urls)
      for (const method of ['GET', 'POST'])
        assert.ok(![404, 501].includes((await fetch(String(url), { method })).status), `${method} ${name}`);

    const words = async (fields: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: 'nobody', ...fields });
      const answer = await fetch(`${platform.protocol}/token`, { method: 'POST', body });
      return ((await answer.json()) as { error: string }).error;
    };
    // Skip the implicit grant, which does not use the token endpoint.
    const grants = list(document, 'grant_types_supported').filter((one) => one !== 'implicit');
    assert.ok(grants.length >= 4);
    for (const grant of grants)
      assert.equal(await words({ grant_type: String(grant) }), 'invalid_client', String(grant));
    assert.equal(document['request_uri_parameter_supported'], false);
    for (const method of ['private_key_jwt', 'tls_client_auth'])
      assert.ok(!list(document, 'token_endpoint_auth_methods_supported').includes(method), method);
    assert.deepEqual(list(document, 'response_modes_supported'), ['query', 'fragment', 'form_post']);
    assert.deepEqual(
      Object.keys(document).filter((name) => /encryption|dpop|tls|device|^backchannel_a/.test(name)),
      [],
    );
  });
});
