import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type NativeSession,
  openNativeSession,
  type SessionState,
  type UnexpectedLogin,
} from '../../../src/client/application/index.ts';
import { post } from '../../journey/idkit.ts';
import { startExampleRealm, until } from '../example-realm.ts';
import { startService } from '../token-service.ts';

/** The calls of a session, in order. */
interface Calls {
  states: SessionState[];
  reports: UnexpectedLogin[];
  opened: URL[];
}

test('a session against a running service', async (t) => {
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

  await t.test('resumes the session with a stored refresh token, which that invalidates', async () => {
    const { session, calls } = await open();
    assert.deepEqual(
      calls.states.map(({ name }) => name),
      ['logging_in', 'logged_in'],
    );
    assert.equal(session.state.name === 'logged_in' && session.state.user['preferred_username'], 'alice');
    assert.match(session.refreshToken ?? '', /^ey/);
  });

  await t.test('notifies a program that stores the refresh token of each new one', async () => {
    const kept: (string | undefined)[] = [];
    const session = openNativeSession({
      issuer: realm.issuer,
      clientId: 'shop',
      redirectUri: 'http://localhost:3000/callback',
      apiOrigins: [api.baseUrl],
      openUrl: () => assert.fail('no login'),
      onChange: ({ name }) => name === 'logged_in' && kept.push(session.refreshToken),
    });
    t.after(() => session.close());
    await session.resume(String((await realm.logIn())['refresh_token']));
    refusedToken = `Bearer ${await session.accessToken()}`;
    await session.fetch(`${api.baseUrl}/orders`);
    assert.equal(new Set(kept).size, 2);
    // A new start of the program takes up the session where this one left it.
    await session.resume(kept.at(-1) ?? '');
    assert.equal(session.state.name, 'logged_in');
  });

  await t.test('a 401 renews the token once for all callers, and each call is repeated once', async () => {
    const { session } = await open();
    refusedToken = `Bearer ${await session.accessToken()}`;
    const before = await realm.countEvents('refresh_token');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => session.fetch(`${api.baseUrl}/orders`, { method: 'PUT', body: 'x' })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal((await realm.countEvents('refresh_token')) - before, 1);
    assert.notEqual(`Bearer ${await session.accessToken()}`, refusedToken);
  });

  await t.test('a refused renewal clears the tokens, reports, and starts a login with PKCE', async () => {
    const { session, calls } = await open();
    await post(realm.address, 'example', 'logout', {
      client_id: 'shop',
      refresh_token: session.refreshToken ?? '',
    });
    refusedToken = `Bearer ${await session.accessToken()}`;
    assert.equal((await session.fetch(`${api.baseUrl}/orders`)).status, 401);
    await until(() => calls.opened.length === 1, 'a login starts');
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
  });

  await t.test('ends the session after the reuse of a refresh token', async () => {
    const { session, calls } = await open();
    const stolen = session.refreshToken ?? '';
    await post(realm.address, 'example', 'token', {
      grant_type: 'refresh_token',
      client_id: 'shop',
      refresh_token: stolen,
    });
    refusedToken = `Bearer ${await session.accessToken()}`;
    await session.fetch(`${api.baseUrl}/orders`);
    await until(() => calls.opened.length === 1, 'a login starts');
    assert.equal(calls.reports[0]?.errorDescription, 'Maximum allowed refresh token reuse exceeded');
  });

  await t.test('a logout ends the session at the service and is not reported as unexpected', async () => {
    const { session, calls } = await open();
    const late = session.refreshToken ?? '';
    await session.logout();
    assert.deepEqual(session.state, { name: 'logged_out', reason: 'logout' });
    assert.deepEqual(calls.reports, []);
    const { status } = await post(realm.address, 'example', 'token', {
      grant_type: 'refresh_token',
      client_id: 'shop',
      refresh_token: late,
    });
    assert.equal(status, 400);
  });

  await t.test('refuses a response that belongs to no login of this program (RFC 9700 §4.7)', async () => {
    const { session } = await open();
    const forged = 'http://localhost:3000/callback?code=stolen&state=guessed';
    await assert.rejects(session.completeLogin(forged), { code: 'login_failed' });
    assert.equal(session.state.name, 'logged_in');
  });

  await t.test('refuses a response with another issuer or without one (RFC 9207 §2.4)', async () => {
    for (const iss of ['https://evil.example', undefined]) {
      const { session, calls } = await open();
      await session.login();
      const state = calls.opened[0]!.searchParams.get('state') ?? '';
      const answer = new URLSearchParams({ code: 'x', state, ...(iss === undefined ? {} : { iss }) });
      await assert.rejects(session.completeLogin(`http://localhost:3000/callback?${answer}`), {
        code: 'login_failed',
        message: /iss/,
      });
      // A second login that fails takes nothing from the first.
      assert.equal(session.state.name, 'logged_in');
    }
  });

  await t.test('a login that the service refuses fails with its message', async () => {
    const { session, calls } = await open();
    await session.login({ parameters: { prompt: 'none' } });
    const state = calls.opened[0]!.searchParams.get('state') ?? '';
    const answer = new URLSearchParams({ error: 'login_required', state, iss: realm.issuer });
    await assert.rejects(session.completeLogin(`http://localhost:3000/callback?${answer}`), {
      code: 'login_failed',
      error: 'login_required',
    });
  });

  await t.test(
    'a realm that is disabled ends the session with an access error, and starts no login',
    async () => {
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
    },
  );
});
