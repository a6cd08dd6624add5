import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { discover, logInByDevice, mayUseBrowser } from '../../../src/client/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { type ReceivedRequest, type Reply, startService } from '../token-service.ts';

const OIDC = '/realms/acme/protocol/openid-connect';

/** The discovery document of a service with device codes. */
function discovery(baseUrl: string, more: object = {}): Reply {
  return {
    json: {
      issuer: `${baseUrl}/realms/acme`,
      authorization_endpoint: `${baseUrl}${OIDC}/auth`,
      token_endpoint: `${baseUrl}${OIDC}/token`,
      device_authorization_endpoint: `${baseUrl}${OIDC}/auth/device`,
      ...more,
    },
  };
}

async function fault(work: Promise<unknown>): Promise<IdkitError> {
  const error = await work.then(
    () => assert.fail('the call succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof IdkitError, String(error));
  return error;
}

const idToken = `e30.${Buffer.from('{"sub":"1","preferred_username":"alice"}').toString('base64url')}.x`;

test('waits until the person confirms the code, and obeys slow_down (RFC 8628 §3.5)', async (t) => {
  const replies: Reply[] = [
    { status: 400, json: { error: 'authorization_pending' } },
    { json: { access_token: 'a', expires_in: 60, refresh_token: 'r', id_token: idToken } },
  ];
  const service = await startService(t, (request: ReceivedRequest): Reply => {
    if (request.path.endsWith('/auth/device'))
      return {
        json: {
          device_code: 'dc',
          user_code: 'ABCD-EFGH',
          verification_uri: 'http://x/device',
          verification_uri_complete: 'http://x/device?user_code=ABCD-EFGH',
          expires_in: 60,
          interval: 0.02,
        },
      };
    return request.path.endsWith('/token') ? replies.shift()! : discovery(service.baseUrl);
  });
  const realm = { baseUrl: service.baseUrl, realm: 'acme', clientId: 'idkit-cli' };
  const shown: unknown[] = [];
  const { login, username } = await logInByDevice(await discover(realm), {
    ...realm,
    scope: 'offline_access',
    show: (confirmation) => shown.push(confirmation),
  });
  assert.deepEqual(shown, [
    { address: 'http://x/device', completeAddress: 'http://x/device?user_code=ABCD-EFGH', code: 'ABCD-EFGH' },
  ]);
  assert.deepEqual([username, login.accessToken, login.refreshToken], ['alice', 'a', 'r']);
  const { code_challenge: challenge, ...start } = service.requests[1]?.form ?? {};
  assert.deepEqual(start, {
    client_id: 'idkit-cli',
    code_challenge_method: 'S256',
    scope: 'openid offline_access',
  });
  const { code_verifier: verifier = '', ...poll } = service.requests.at(-1)?.form ?? {};
  assert.deepEqual(poll, {
    client_id: 'idkit-cli',
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: 'dc',
  });
  assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge, 'PKCE (RFC 7636 §4.6)');
});

test('reports a declined code, an expired code and a client without device codes as IDKIT_CREDENTIALS', async (t) => {
  let start: Reply = {
    json: { device_code: 'dc', user_code: 'A', verification_uri: 'v', expires_in: 0.1, interval: 0.03 },
  };
  let answer = 'access_denied';
  const service = await startService(t, (request): Reply => {
    if (request.path.endsWith('/auth/device')) return start;
    if (request.path.endsWith('/token')) return { status: 400, json: { error: answer } };
    return discovery(service.baseUrl);
  });
  const realm = { baseUrl: service.baseUrl, realm: 'acme', clientId: 'idkit-cli' };
  const found = await discover(realm);
  const logIn = () => fault(logInByDevice(found, { ...realm, show: () => {} }));
  assert.match(
    (await logIn()).message,
    /refused the login by device code of the client idkit-cli .*access_denied/,
  );
  answer = 'authorization_pending';
  const late = await logIn();
  assert.deepEqual([late.code, /code expired/.test(late.message)], ['IDKIT_CREDENTIALS', true]);
  start = { status: 400, json: { error: 'unauthorized_client', error_description: 'The flow is disabled' } };
  assert.match((await logIn()).message, /The flow is disabled$/);
});

test('rejects an endpoint of another site, because tokens of one address must not reach another', async (t) => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'device_authorization_endpoint']) {
    const service = await startService(t, () =>
      discovery(service.baseUrl, { [name]: 'https://evil.example/x' }),
    );
    const error = await fault(discover({ baseUrl: service.baseUrl, realm: 'acme', clientId: 'c' }));
    assert.match(error.message, /names an endpoint of another site: https:\/\/evil\.example\/x/);
  }
});

test('distinguishes an unknown realm, an address without a token service and one that is unavailable', async (t) => {
  for (const [reply, code] of [
    [{ status: 404, json: { error: 'Realm does not exist' } }, 'IDKIT_NOT_FOUND'],
    [{ status: 404, text: 'nothing' }, 'IDKIT_FAILED'],
    [{ text: '<html>' }, 'IDKIT_FAILED'],
    [{ status: 503, text: '' }, 'IDKIT_UNREACHABLE'],
  ] as const) {
    const service = await startService(t, () => reply);
    const error = await fault(discover({ baseUrl: service.baseUrl, realm: 'acme', clientId: 'c' }));
    assert.equal(error.code, code, JSON.stringify(reply));
  }
});

test('a client may use the browser only if the service redirects to this machine', async (t) => {
  const redirectUri = 'http://127.0.0.1:9/callback';
  const redirect = (location: string): Reply => ({ status: 302, headers: { location } });
  let reply: Reply = {};
  const service = await startService(
    t,
    (request): Reply => (request.path.includes('/auth?') ? reply : discovery(service.baseUrl)),
  );
  const realm = { baseUrl: service.baseUrl, realm: 'acme', clientId: 'c' };
  const found = await discover(realm);
  for (const [answer, expected] of [
    [redirect(`${redirectUri}?error=login_required&state=`), true],
    [redirect(`${redirectUri}?error=unauthorized_client`), false],
    [redirect('https://elsewhere.example/?error=login_required'), false],
    [{ status: 400, text: '<html>' }, false],
  ] as const) {
    reply = answer;
    assert.equal(await mayUseBrowser(found, realm, redirectUri), expected, JSON.stringify(answer));
  }
});

test('advises to log in at the public address of a service, but not with a command that a shell would evaluate', async (t) => {
  for (const [issuer, hint] of [
    [
      'https://login.example.test/realms/acme',
      'log in at that address: idkit login https://login.example.test/realms/acme',
    ],
    ['https://x.example.test/realms/$(id)', 'log in at that address'],
  ] as const) {
    const service = await startService(t, () => discovery('', { issuer }));
    const realm = { baseUrl: service.baseUrl, realm: 'acme', clientId: 'idkit-cli' };
    assert.deepEqual((await fault(discover(realm))).hints, [hint]);
  }
});
