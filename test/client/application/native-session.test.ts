import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ClientError,
  type NativeSession,
  openNativeSession,
  type SessionState,
  type UnexpectedLogin,
} from '../../../src/client/application/index.ts';
import { post } from '../../journey/idkit.ts';
import { startExampleRealm, until } from '../example-realm.ts';
import { passLogin } from '../pass-login.ts';
import { startService } from '../token-service.ts';

/** The callbacks that a session has called, in order. */
interface Calls {
  states: SessionState[];
  reports: UnexpectedLogin[];
  opened: URL[];
}

test('a native session with a running service', async (t) => {
  const realm = await startExampleRealm(t);
  const api = await startService(t, ({ authorization }) => ({
    status: authorization === refusedToken ? 401 : 200,
    json: { authorization },
  }));
  let refusedToken: string | undefined;

  const open = async (): Promise<{ session: NativeSession; calls: Calls }> => {
    const calls: Calls = { states: [], reports: [], opened: [] };
    const session = openNativeSession({
      issuer: realm.issuer,
      clientId: 'shop',
      redirectUri: 'http://localhost:3000/callback',
      apiOrigins: [api.baseUrl],
      openUrl: (url) => void calls.opened.push(new URL(url)),
      onChange: (state) => calls.states.push(state),
      onUnexpectedLogin: (report) => calls.reports.push(report),
    });
    t.after(() => session.close());
    await session.resume(String((await realm.logIn())['refresh_token']));
    return { session, calls };
  };

  await t.test('resumes the session with a stored refresh token', async () => {
    const { session, calls } = await open();
    assert.deepEqual(
      calls.states.map(({ name }) => name),
      ['logging_in', 'logged_in'],
    );
    assert.equal(session.state.name === 'logged_in' && session.state.user['preferred_username'], 'alice');
    assert.match(session.refreshToken ?? '', /^ey/);
  });

  await t.test('calls onChange for each new refresh token, so that a program can store it', async () => {
    const stored: (string | undefined)[] = [];
    const session = openNativeSession({
      issuer: realm.issuer,
      clientId: 'shop',
      redirectUri: 'http://localhost:3000/callback',
      apiOrigins: [api.baseUrl],
      openUrl: () => assert.fail('the session started a login'),
      onChange: ({ name }) => name === 'logged_in' && stored.push(session.refreshToken),
    });
    t.after(() => session.close());
    await session.resume(String((await realm.logIn())['refresh_token']));
    refusedToken = `Bearer ${await session.accessToken()}`;
    await session.fetch(`${api.baseUrl}/orders`);
    assert.equal(new Set(stored).size, 2);
    // A restarted program resumes the session with the last stored token.
    await session.resume(stored.at(-1) ?? '');
    assert.equal(session.state.name, 'logged_in');
  });

  await t.test('renews the token once for all callers after a 401, and repeats each call once', async () => {
    const { session } = await open();
    refusedToken = `Bearer ${await session.accessToken()}`;
    const before = await realm.countEvents('refresh_token');
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => session.fetch(`${api.baseUrl}/orders`, { method: 'PUT', body: 'x' })),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
    assert.equal((await realm.countEvents('refresh_token')) - before, 1);
    assert.notEqual(`Bearer ${await session.accessToken()}`, refusedToken);
  });

  await t.test(
    'discards the tokens after a rejected renewal, reports it and starts a login with PKCE',
    async () => {
      const { session, calls } = await open();
      await post(realm.address, 'example', 'logout', {
        client_id: 'shop',
        refresh_token: session.refreshToken ?? '',
      });
      refusedToken = `Bearer ${await session.accessToken()}`;
      assert.equal((await session.fetch(`${api.baseUrl}/orders`)).status, 401);
      await until(() => calls.opened.length === 1, 'the session starts a login');
      assert.equal(session.refreshToken, undefined);
      assert.deepEqual(
        calls.states.slice(2).map((state) => [state.name, 'reason' in state ? state.reason : undefined]),
        [
          ['logged_out', 'renewal_refused'],
          ['logging_in', undefined],
        ],
      );
      const [report] = calls.reports;
      assert.deepEqual(
        [report?.reason, report?.status, report?.error, report?.errorDescription],
        ['renewal_refused', 400, 'invalid_grant', 'Session not active'],
      );
      const { searchParams, pathname } = calls.opened[0]!;
      assert.equal(pathname, '/realms/example/protocol/openid-connect/auth');
      assert.equal(searchParams.get('code_challenge_method'), 'S256');
      for (const name of ['state', 'nonce', 'code_challenge'])
        assert.ok((searchParams.get(name) ?? '').length >= 43);
      await assert.rejects(session.accessToken(), { code: 'logged_out' });
    },
  );

  await t.test('ends the session if another program used the refresh token (reuse)', async () => {
    const { session, calls } = await open();
    const stolen = session.refreshToken ?? '';
    await post(realm.address, 'example', 'token', {
      grant_type: 'refresh_token',
      client_id: 'shop',
      refresh_token: stolen,
    });
    refusedToken = `Bearer ${await session.accessToken()}`;
    await session.fetch(`${api.baseUrl}/orders`);
    await until(() => calls.opened.length === 1, 'the session starts a login');
    assert.equal(calls.reports[0]?.errorDescription, 'Maximum allowed refresh token reuse exceeded');
  });

  await t.test('a logout ends the session at the service, without a report', async () => {
    const { session, calls } = await open();
    const lastToken = session.refreshToken ?? '';
    await session.logout();
    assert.deepEqual(session.state, { name: 'logged_out', reason: 'logout' });
    assert.deepEqual(calls.reports, []);
    const { status } = await post(realm.address, 'example', 'token', {
      grant_type: 'refresh_token',
      client_id: 'shop',
      refresh_token: lastToken,
    });
    assert.equal(status, 400);
  });

  await t.test(
    'rejects a response that does not belong to a login of the session (RFC 9700 §4.7)',
    async () => {
      const { session } = await open();
      const forged = 'http://localhost:3000/callback?code=stolen&state=guessed';
      await assert.rejects(session.completeLogin(forged), { code: 'login_failed' });
      assert.equal(session.state.name, 'logged_in');
    },
  );

  await t.test('rejects a response of another issuer, or without an issuer (RFC 9207 §2.4)', async () => {
    for (const iss of ['https://evil.example', undefined]) {
      const { session, calls } = await open();
      await session.login();
      const state = calls.opened[0]?.searchParams.get('state') ?? '';
      const response = new URLSearchParams({ code: 'x', state, ...(iss === undefined ? {} : { iss }) });
      await assert.rejects(session.completeLogin(`http://localhost:3000/callback?${response}`), {
        code: 'login_failed',
        message: /iss/,
      });
      // A failed second login does not end the first session.
      assert.equal(session.state.name, 'logged_in');
    }
  });

  await t.test('rejects completeLogin with the error of the service', async () => {
    const { session, calls } = await open();
    await session.login({ parameters: { prompt: 'none' } });
    const state = calls.opened[0]?.searchParams.get('state') ?? '';
    const response = new URLSearchParams({ error: 'login_required', state, iss: realm.issuer });
    await assert.rejects(session.completeLogin(`http://localhost:3000/callback?${response}`), {
      code: 'login_failed',
      error: 'login_required',
    });
  });

  await t.test('a disabled realm ends the session with access_refused, without a login', async () => {
    const { session, calls } = await open();
    await realm.change({ enabled: false });
    refusedToken = `Bearer ${await session.accessToken()}`;
    assert.equal((await session.fetch(`${api.baseUrl}/orders`)).status, 401);
    assert.equal(session.state.name === 'logged_out' && session.state.reason, 'access_refused');
    assert.deepEqual(
      calls.reports.map(({ reason, error }) => [reason, error]),
      [['access_refused', 'realm_disabled']],
    );
    assert.deepEqual(calls.opened, []);
  });
});

test('a session of a confidential client authenticates each request with its current secret', async (t) => {
  const realm = await startExampleRealm(t);
  const opened: URL[] = [];
  let secret: string | undefined = 'change-me-portal-secret';
  const session = openNativeSession({
    issuer: realm.issuer,
    clientId: 'portal',
    clientSecret: async () => secret as string,
    redirectUri: 'http://localhost:3001/callback',
    openUrl: (url) => void opened.push(new URL(url)),
  });
  t.after(() => session.close());

  const logIn = async (): Promise<void> => {
    await session.login();
    await session.completeLogin(await passLogin(opened.at(-1)!, 'alice'));
  };
  await t.test('logs in, and logs out at the service', async () => {
    await logIn();
    assert.equal(session.state.name === 'logged_in' && session.state.user['preferred_username'], 'alice');
    await session.logout();
    assert.equal(await realm.countEvents('logout'), 1);
  });

  await t.test('a missing secret, or a wrong one, fails the login with its own code', async () => {
    for (const [value, code] of [
      [undefined, 'secret_missing'],
      ['wrong', 'login_failed'],
    ] as const) {
      secret = value;
      await assert.rejects(logIn(), { name: 'ClientError', code });
      assert.equal(session.state.name === 'logged_out' && session.state.reason, 'login_failed');
    }
  });
});

test('login rejects with callback_failed if openUrl throws, and the session is logged out', async (t) => {
  const service = await startService(t, () => {
    const issuer = `${service.baseUrl}/realms/x`;
    return { json: { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` } };
  });
  const fault = new Error('no browser');
  const session = openNativeSession({
    issuer: `${service.baseUrl}/realms/x`,
    clientId: 'terminal',
    redirectUri: 'http://127.0.0.1/callback',
    openUrl: () => {
      throw fault;
    },
  });
  await assert.rejects(session.login(), (error: ClientError) => {
    assert.deepEqual([error.name, error.code], ['ClientError', 'callback_failed']);
    assert.match(error.message, /openUrl threw an error/);
    return true;
  });
  assert.equal(session.state.name === 'logged_out' && session.state.reason, 'login_failed');
  // An empty refresh token is a mistake of the caller, not an unreachable service.
  await assert.rejects(session.resume(''), { code: 'login_failed', message: /refreshToken/ });
});
