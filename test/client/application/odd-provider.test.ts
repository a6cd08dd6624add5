import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type NativeSessionOptions,
  openNativeSession,
  type SessionState,
} from '../../../src/client/application/index.ts';
import { until } from '../example-realm.ts';
import { issuer, type Reply, startService } from '../token-service.ts';

// What a service in good order never does, and what an application does wrong.

async function open(
  t: Parameters<typeof startService>[0],
  { lifetime = 300, endpoints = {}, logout = { status: 204 } as Reply } = {},
  options: Partial<NativeSessionOptions> = {},
) {
  const tokens = issuer(lifetime);
  const provider = await startService(t, (got): Reply => {
    const { baseUrl } = provider;
    const document = {
      issuer: baseUrl,
      token_endpoint: `${baseUrl}/token`,
      authorization_endpoint: `${baseUrl}/auth`,
      end_session_endpoint: `${baseUrl}/logout`,
      ...endpoints,
    };
    if (got.path === '/.well-known/openid-configuration') return { json: document };
    return got.path === '/logout' ? logout : tokens(got);
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

test('reports a service without an authorization endpoint', async (t) => {
  const { session, opened } = await open(t, { endpoints: { authorization_endpoint: undefined } });
  await assert.rejects(session.login(), {
    name: 'ClientError',
    code: 'unexpected_answer',
    message: /^http:.* has no authorization_endpoint in its discovery document$/,
  });
  assert.deepEqual(opened, []);
});

test('ends the session here if the service is unreachable at a logout, and reports that', async (t) => {
  for (const [status, code] of [
    [503, 'unreachable'],
    [400, 'refused'],
  ] as const) {
    const states: SessionState[] = [];
    const { session } = await open(t, { logout: { status } }, { onChange: (state) => states.push(state) });
    await session.resume('refresh-0');
    await assert.rejects(session.logout(), { name: 'ClientError', code });
    assert.deepEqual(states.at(-1), { name: 'logged_out', reason: 'logout' });
    assert.equal(session.refreshToken, undefined);
  }
});

test('remembers the last ten abandoned logins, each for one response', async (t) => {
  const { session, opened } = await open(t);
  for (let count = 0; count < 12; count++) await session.login();
  const answers = opened.map(
    ({ searchParams }) =>
      `http://localhost:3000/callback?error=access_denied&state=${searchParams.get('state')}`,
  );
  const complete = (answer: string) => session.completeLogin(answer).catch((error: Error) => error.message);
  const messages: unknown[] = [];
  for (const answer of [...answers, answers[11]!]) messages.push(await complete(answer));
  const unknown = 'this response belongs to no login of this program';
  assert.deepEqual(
    messages.map((message) => message === unknown),
    [true, true, ...Array.from({ length: 10 }, () => false), true],
  );
});

test('logs an error of onChange on the console, and continues renewals and logouts', async (t) => {
  const faults: unknown[] = [];
  t.mock.method(console, 'error', (_text: string, error: unknown) => faults.push(error));
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
  const renewals = () => provider.got.filter(({ path }) => path === '/token').length;
  await session.resume('refresh-0');
  assert.equal(session.state.name, 'logged_in');
  await until(() => renewals() >= 3, 'the token is renewed by itself, again and again');
  await session.logout();
  assert.equal(session.state.name, 'logged_out');
  assert.ok(faults.length >= 4 && faults.every((one) => one === fault));
});
