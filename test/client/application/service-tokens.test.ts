import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientError, openServiceTokens } from '../../../src/client/application/index.ts';
import { ORDERS, startExampleRealm } from '../example-realm.ts';
import { type ReceivedRequest, type Reply, startService } from '../token-service.ts';

test('machine-to-machine tokens of a running service (RFC 6749 §4.4)', async (t) => {
  const realm = await startExampleRealm(t);
  const { issuer } = realm;
  let now = Date.now();
  const tokens = openServiceTokens({ issuer, ...ORDERS }, () => now);

  await t.test('parallel callers share one request', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.accessToken()));
    assert.equal(new Set(all).size, 1);
    assert.equal(await realm.countEvents('client_login'), 1);
  });

  await t.test('renews a token when 30 seconds are left, not before', async () => {
    const first = await tokens.accessToken();
    now += 269_000;
    assert.equal(await tokens.accessToken(), first);
    now += 2_000;
    assert.notEqual(await tokens.accessToken(), first);
    assert.equal(await realm.countEvents('client_login'), 2);
  });

  await t.test(
    'rejects a wrong secret with the error of the service, which does not contain the secret',
    async () => {
      const wrong = openServiceTokens({ issuer, clientId: 'orders', clientSecret: 'wrong-secret-1' });
      await assert.rejects(wrong.accessToken(), (error) => {
        assert.ok(error instanceof ClientError);
        assert.deepEqual([error.code, error.status, error.error], ['refused', 401, 'unauthorized_client']);
        assert.doesNotMatch(`${error.stack}${JSON.stringify(error)}`, /wrong-secret-1/);
        return true;
      });
    },
  );

  await t.test('calls the secret function at each renewal, so that it uses a changed secret', async () => {
    const secrets = ['wrong-secret-2', ORDERS.clientSecret];
    let later = Date.now();
    const rotated = openServiceTokens(
      { issuer, clientId: 'orders', clientSecret: async () => secrets.shift()! },
      () => later,
    );
    await assert.rejects(rotated.accessToken(), { code: 'refused' });
    later += 1_000;
    assert.match(await rotated.accessToken(), /^ey/);
  });

  await t.test('distinguishes an unknown realm, a web page and an address without a service', async () => {
    const codes = async (address: string) =>
      openServiceTokens({ issuer: address, ...ORDERS })
        .accessToken()
        .then(
          () => assert.fail(),
          (error: ClientError) => error.code,
        );
    assert.equal(await codes(`${realm.address}/realms/none`), 'refused');
    const page = await startService(t, () => ({ text: '<h1>It works</h1>' }));
    assert.equal(await codes(page.baseUrl), 'unexpected_answer');
    assert.equal(await codes('http://127.0.0.1:1/realms/example'), 'unreachable');
  });
});

/** Starts a service whose token endpoint responds with the reply of `token`, and whose API rejects every token. */
async function startFaulty(t: Parameters<typeof startService>[0], token: () => Reply) {
  const service = await startService(t, ({ path }: ReceivedRequest) => {
    const issuer = `${service.baseUrl}/realms/x`;
    if (path.endsWith('openid-configuration')) return { json: { issuer, token_endpoint: `${issuer}/token` } };
    if (path === '/api') return { status: 401 };
    return token();
  });
  return { ...service, issuer: `${service.baseUrl}/realms/x` };
}

test('returns the cached token while the service is unreachable, but reports a refusal immediately', async (t) => {
  let reply: Reply = { json: { access_token: 'one', expires_in: 300, token_type: 'Bearer' } };
  const { issuer } = await startFaulty(t, () => reply);
  let now = 0;
  const tokens = openServiceTokens({ issuer, ...ORDERS }, () => now);
  assert.equal(await tokens.accessToken(), 'one');
  now = 280_000;
  for (const status of [500, 503, 429]) {
    reply = { status, json: { error: 'server_error' } };
    assert.equal(await tokens.accessToken(), 'one');
  }
  now = 300_001;
  await assert.rejects(tokens.accessToken(), { code: 'unreachable', status: 429 });
  now = 280_000;
  reply = { status: 400, json: { error: 'client_disabled' } };
  await assert.rejects(tokens.accessToken(), { code: 'refused', error: 'client_disabled' });
});

test('after a failed request, sends no other request for one second', async (t) => {
  const { issuer, requests } = await startFaulty(t, () => ({
    status: 401,
    json: { error: 'invalid_client' },
  }));
  let now = 10_000;
  const tokens = openServiceTokens({ issuer, ...ORDERS }, () => now);
  const sent = () => requests.filter(({ path }) => path.endsWith('/token')).length;
  for (let call = 0; call < 20; call++) await assert.rejects(tokens.accessToken(), { code: 'refused' });
  assert.equal(sent(), 1);
  now += 1_000;
  await assert.rejects(tokens.accessToken(), { code: 'refused' });
  assert.equal(sent(), 2);
  now -= 3_600_000;
  await assert.rejects(tokens.accessToken(), { code: 'refused' });
  assert.equal(sent(), 3, 'a clock that is set back does not prolong the pause');
});

test('renews a short-lived token after half its lifetime, not at every call', async (t) => {
  let issued = 0;
  const { issuer } = await startFaulty(t, () => {
    issued += 1;
    return { json: { access_token: `short-${issued}`, expires_in: 20, token_type: 'Bearer' } };
  });
  let now = 0;
  const tokens = openServiceTokens({ issuer, ...ORDERS }, () => now);
  await tokens.accessToken();
  now = 9_000;
  assert.equal(await tokens.accessToken(), 'short-1');
  now = 11_000;
  assert.equal(await tokens.accessToken(), 'short-2');
});

test('retries once per call if an API rejects every token, and gets a new token at most every five seconds', async (t) => {
  let issued = 0;
  const { issuer, baseUrl, requests } = await startFaulty(t, () => {
    issued += 1;
    return { json: { access_token: `refused-${issued}`, expires_in: 300, token_type: 'Bearer' } };
  });
  let now = 100_000;
  const tokens = openServiceTokens({ issuer, ...ORDERS, apiOrigins: [baseUrl] }, () => now);
  const call = async () => {
    const before = requests.length;
    assert.equal((await tokens.fetch(`${baseUrl}/api`, { method: 'POST', body: 'once' })).status, 401);
    return requests.slice(before).filter(({ path }) => path === '/api');
  };
  const first = await call();
  assert.deepEqual(
    first.map(({ body, authorization }) => [body, authorization]),
    [
      ['once', 'Bearer refused-1'],
      ['once', 'Bearer refused-2'],
    ],
  );
  assert.equal((await call()).length, 1);
  now += 6_000;
  assert.equal((await call()).length, 2);
  assert.equal(issued, 3);
});

test('a missing secret and a callback that throws are separate errors, and the service gets no request', async (t) => {
  const { issuer, requests } = await startFaulty(t, () => ({}));
  const fault = new Error('the secrets manager is closed');
  const cases: readonly (readonly [unknown, code: string, message: RegExp])[] = [
    ['', 'secret_missing', /secret of the client orders is empty/],
    [undefined, 'secret_missing', /is undefined, not a text/],
    [() => undefined, 'secret_missing', /is undefined, not a text/],
    [async () => null, 'secret_missing', /is null, not a text/],
    [
      () => {
        throw fault;
      },
      'callback_failed',
      /clientSecret of the client orders threw an error/,
    ],
    [() => Promise.reject(fault), 'callback_failed', /threw an error/],
  ];
  for (const [clientSecret, code, message] of cases) {
    const tokens = openServiceTokens({ issuer, clientId: 'orders', clientSecret: clientSecret as string });
    await assert.rejects(tokens.accessToken(), (error: ClientError) => {
      assert.deepEqual([error.name, error.code], ['ClientError', code]);
      assert.match(error.message, message);
      assert.equal(error.cause, code === 'callback_failed' ? fault : undefined);
      return true;
    });
  }
  assert.equal(requests.length, 0);
});

test('returns the cached token while the secret is unavailable', async (t) => {
  const { issuer } = await startFaulty(t, () => ({
    json: { access_token: 'one', expires_in: 300, token_type: 'Bearer' },
  }));
  let now = 0;
  let secret: string | undefined = ORDERS.clientSecret;
  const tokens = openServiceTokens(
    { issuer, clientId: 'orders', clientSecret: () => secret as string },
    () => now,
  );
  await tokens.accessToken();
  secret = undefined;
  now = 280_000;
  assert.equal(await tokens.accessToken(), 'one');
  now = 300_001;
  await assert.rejects(tokens.accessToken(), { code: 'secret_missing' });
});

test('sends tokens only to apiOrigins', async (t) => {
  const { issuer, baseUrl, requests } = await startFaulty(t, () => ({}));
  const tokens = openServiceTokens({ issuer, ...ORDERS, apiOrigins: ['https://api.example.org'] });
  await assert.rejects(tokens.fetch(`${baseUrl}/api`), { code: 'not_allowed' });
  assert.equal(requests.length, 0);
});

test('rejects an issuer that is neither https nor http on this machine, unless allowHttp permits http', () => {
  for (const issuer of [
    'http://login.example.org/realms/x',
    'http://127.0.0.1.example.org',
    'ftp://localhost',
    'x',
  ]) {
    assert.throws(() => openServiceTokens({ issuer, ...ORDERS }), TypeError);
  }
  openServiceTokens({ issuer: 'http://login.example.org/realms/x', ...ORDERS, allowHttp: true });
  openServiceTokens({ issuer: 'http://[::1]:8080/realms/x', ...ORDERS });
});
