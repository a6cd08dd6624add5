import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import {
  type NativeSessionOptions,
  openNativeSession,
  type SessionState,
} from '../../../src/client/application/index.ts';
import { until } from '../example-realm.ts';
import { issuer, type Reply, startService } from '../token-service.ts';

// These tests cover faults of the service, and errors in the application's own callbacks.

interface Faults {
  /** Lifetime of the access tokens in seconds. */
  lifetime?: number;
  /** Members that replace those of the discovery document. */
  endpoints?: Record<string, string | undefined>;
  /** The response of the logout endpoint. */
  logout?: Reply;
  /** The response of the token endpoint to all requests but the first. */
  token?: Reply;
}

async function open(
  t: Parameters<typeof startService>[0],
  { lifetime = 300, endpoints = {}, logout = { status: 204 }, token }: Faults = {},
  options: Partial<NativeSessionOptions> = {},
) {
  const tokens = issuer(lifetime);
  let issued = 0;
  const provider = await startService(t, (request): Reply => {
    const { baseUrl } = provider;
    const document = {
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/token`,
      authorization_endpoint: `${baseUrl}/auth`,
      end_session_endpoint: `${baseUrl}/logout`,
      ...endpoints,
    };
    if (request.path === '/.well-known/openid-configuration') return { json: document };
    if (request.path === '/logout') return logout;
    issued += 1;
    return issued > 1 && token !== undefined ? token : tokens(request);
  });
  const opened: URL[] = [];
  const session = openNativeSession({
    issuer: provider.baseUrl,
    clientId: 'shop',
    redirectUri: 'http://localhost:3000/callback',
    openUrl: (url) => void opened.push(new URL(url)),
    ...options,
  });
  t.after(() => session.close());
  return { session, provider, opened };
}

test('login rejects if the service has no authorization endpoint', async (t) => {
  const { session, opened } = await open(t, { endpoints: { authorization_endpoint: undefined } });
  await assert.rejects(session.login(), {
    name: 'ClientError',
    code: 'unexpected_answer',
    message: /^the discovery document of http:.* has no authorization_endpoint$/,
  });
  assert.deepEqual(opened, []);
});

test('logout ends the local session, and rejects if the service responds with an error', async (t) => {
  for (const [status, code] of [
    [503, 'unreachable'],
    [400, 'refused'],
    [302, 'unexpected_answer'],
  ] as const) {
    const states: SessionState[] = [];
    const { session } = await open(t, { logout: { status } }, { onChange: (state) => states.push(state) });
    await session.resume('refresh-0');
    await assert.rejects(session.logout(), { name: 'ClientError', code });
    assert.deepEqual(states.at(-1), { name: 'logged_out', reason: 'logout' });
    assert.equal(session.refreshToken, undefined);
  }
});

test('remembers the last ten unfinished logins, and accepts one response for each', async (t) => {
  const { session, opened } = await open(t);
  for (let count = 0; count < 12; count++) await session.login();
  const responses = opened.map(
    ({ searchParams }) =>
      `http://localhost:3000/callback?error=access_denied&state=${searchParams.get('state')}`,
  );
  const complete = (response: string) =>
    session.completeLogin(response).catch((error: Error) => error.message);
  const messages: unknown[] = [];
  for (const response of [...responses, responses[11]!]) messages.push(await complete(response));
  const unknown = 'the address does not belong to a login of this session';
  assert.deepEqual(
    messages.map((message) => message === unknown),
    [true, true, ...Array.from({ length: 10 }, () => false), true],
  );
});

test('logs an error that onChange throws, and continues with renewals and the logout', async (t) => {
  const logged: unknown[] = [];
  t.mock.method(console, 'error', (_text: string, error: unknown) => logged.push(error));
  const fault = new Error('a fault of the application');
  const { session, provider } = await open(
    t,
    { lifetime: 2 },
    {
      onChange() {
        throw fault;
      },
    },
  );
  const renewals = () => provider.requests.filter(({ path }) => path === '/token').length;
  await session.resume('refresh-0');
  assert.equal(session.state.name, 'logged_in');
  await until(() => renewals() >= 3, 'the session renews the token repeatedly');
  await session.logout();
  assert.equal(session.state.name, 'logged_out');
  assert.ok(logged.length >= 4 && logged.every((one) => one === fault));
});

test('logs a rejection of an asynchronous callback, which would end the process without a handler', async (t) => {
  const logged: unknown[] = [];
  t.mock.method(console, 'error', (_text: string, error: unknown) => logged.push(error));
  const fault = new Error('a fault of the application');
  const { session } = await open(t, {}, { onChange: () => Promise.reject(fault) as unknown as undefined });
  await session.resume('refresh-0');
  await until(() => logged.length === 2, 'the session has logged the rejections');
  assert.deepEqual(logged, [fault, fault]);
});

test('no error contains a token, even if a log prints it with all causes', async (t) => {
  const secret = 'top-secret-token';
  const json = { access_token: secret, refresh_token: secret, expires_in: 300 };
  for (const token of [
    { json: { ...json, token_type: 'mac' } },
    { json: { ...json, token_type: 'Bearer', id_token: `${secret}.x.y` } },
    { text: `{"access_token":"${secret}","refr` },
    { text: `"${secret}` },
    { status: 400, json: { error: 'invalid_grant', ...json } },
    { status: 200, text: secret, headers: { 'content-type': 'text/html' } },
  ]) {
    const { session } = await open(t, { token });
    await session.resume('refresh-0');
    const error = await session.resume(secret).then(
      () => assert.fail('the response is faulty'),
      (error: unknown) => error,
    );
    assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /top-secret/);
  }
});

test('a redirect of an API to another origin does not receive the token', async (t) => {
  const other = await startService(t, () => ({ json: {} }));
  const api = await startService(t, () => ({ status: 307, headers: { location: `${other.baseUrl}/x` } }));
  const { session } = await open(t, {}, { apiOrigins: [api.baseUrl] });
  await session.resume('refresh-0');
  await session.fetch(api.baseUrl);
  assert.deepEqual(
    [api.requests, other.requests].map((requests) => requests.map(({ authorization }) => authorization)),
    [['Bearer access-1'], [undefined]],
  );
});
