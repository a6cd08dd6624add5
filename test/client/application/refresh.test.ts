import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openNativeSession, type UnexpectedLogin } from '../../../src/client/application/index.ts';
import { readMetrics } from '../../http/service.ts';
import { type CuttingProxy, type Fault, startCuttingProxy } from '../cutting-proxy.ts';
import { type ExampleRealm, startExampleRealm, until } from '../example-realm.ts';
import { startService } from '../token-service.ts';

/** Starts the service behind a proxy. The realm has the grace period in seconds. */
async function startBehindProxy(t: TestContext, grace: number) {
  const proxy = await startCuttingProxy(t);
  const attributes = `"attributes": { "refreshGraceSeconds": "${grace}" }, "enabled": true,`;
  const realm = await startExampleRealm(
    t,
    (text) => text.replace('"enabled": true,', attributes),
    proxy.baseUrl,
  );
  proxy.forwardTo(realm.address);
  return { proxy, realm };
}

async function openLoggedIn(t: TestContext, realm: ExampleRealm, refreshGraceSeconds?: number) {
  const api = await startService(t, () => ({ status: 401 }));
  const reports: UnexpectedLogin[] = [];
  const opened: string[] = [];
  const session = openNativeSession({
    issuer: realm.issuer,
    clientId: 'shop',
    redirectUri: 'http://localhost:3000/callback',
    apiOrigins: [api.baseUrl],
    openUrl: (url) => void opened.push(url),
    onUnexpectedLogin: (report) => reports.push(report),
    ...(refreshGraceSeconds === undefined ? {} : { refreshGraceSeconds }),
  });
  t.after(() => session.close());
  await session.resume(String((await realm.logIn())['refresh_token']));
  /** Renews the tokens, because the API rejects the access token. */
  const renew = async (): Promise<void> => {
    await session.fetch(api.baseUrl);
  };
  return { session, renew, reports, opened };
}

/** Sends one refresh for each list of faults, and expects that each returns a new token. */
async function expectRenewals(
  t: TestContext,
  proxy: CuttingProxy,
  realm: ExampleRealm,
  lists: readonly (readonly Fault[])[],
): Promise<void> {
  for (const faults of lists) {
    await t.test(faults.join(', then '), async (t) => {
      const { session, renew, reports } = await openLoggedIn(t, realm, 10);
      const [before, sent] = [session.refreshToken, proxy.refreshes()];
      proxy.faults.push(...faults);
      await renew();
      assert.notEqual(session.refreshToken, before);
      assert.equal(proxy.refreshes() - sent, faults.length + 1);
      // The new refresh token works, so the service has not detected reuse.
      await session.resume(session.refreshToken ?? '');
      assert.equal(session.state.name, 'logged_in');
      assert.deepEqual(reports, []);
    });
  }
}

test('within the grace period, repeats a refresh that was lost on the way, and gets the same refresh token', async (t) => {
  const { proxy, realm } = await startBehindProxy(t, 10);
  await expectRenewals(t, proxy, realm, [
    ['lost request'],
    ['lost response'],
    ['cut response'],
    ['no response'],
    ['lost response', 'cut response', 'lost response'],
  ]);
  const [, repeats] = /idkit_refresh_token_repeats_total\{realm="example"\} (\d+)/.exec(
    await readMetrics(realm.service),
  ) ?? ['', '0'];
  assert.equal(Number(repeats), 6, 'the service counts each repetition');
});

test('without a grace period', async (t) => {
  const { proxy, realm } = await startBehindProxy(t, 0);

  await t.test(
    'repeats a refresh without a response after five seconds, and the session continues',
    async (t) => {
      const { session, renew } = await openLoggedIn(t, realm);
      const [before, sent] = [session.refreshToken, proxy.refreshes()];
      proxy.faults.push('lost request');
      await renew();
      assert.equal(session.state.name, 'logged_in');
      assert.equal(session.refreshToken, before);
      assert.equal(proxy.refreshes() - sent, 1);
      await until(() => session.refreshToken !== before, 'the session repeats the refresh');
      assert.equal(proxy.refreshes() - sent, 2);
    },
  );

  await t.test(
    'never repeats a refresh whose response began to arrive, so nothing counts as reuse',
    async (t) => {
      const { session, renew, reports, opened } = await openLoggedIn(t, realm);
      const sent = proxy.refreshes();
      proxy.faults.push('cut response');
      await renew();
      await until(() => opened.length === 1, 'the session starts a login');
      assert.deepEqual(
        reports.map(({ reason }) => reason),
        ['renewal_interrupted'],
      );
      assert.equal(session.refreshToken, undefined);
      assert.equal(proxy.refreshes() - sent, 1);
      assert.equal(await realm.countEvents('refresh_token', 'invalid_token'), 0);
    },
  );

  await t.test('resume reports a lost response, and does not send the refresh token again', async (t) => {
    const { session } = await openLoggedIn(t, realm);
    const token = String((await realm.logIn())['refresh_token']);
    const sent = proxy.refreshes();
    proxy.faults.push('cut response');
    for (let time = 0; time < 2; time++) {
      await assert.rejects(session.resume(token), {
        code: 'login_failed',
        message: /the response to a refresh was lost/,
      });
    }
    assert.equal(proxy.refreshes() - sent, 1);
  });
});

test('openNativeSession throws a TypeError for a grace period or a timeout that is out of range', () => {
  const open = (more: object) =>
    openNativeSession({
      issuer: 'https://login.example/realms/x',
      clientId: 'shop',
      redirectUri: 'http://localhost/',
      openUrl: () => {},
      ...more,
    });
  open({ refreshGraceSeconds: 300, timeoutMilliseconds: 1 }).close();
  for (const refreshGraceSeconds of [-1, 301, Number.NaN, '10'])
    assert.throws(() => open({ refreshGraceSeconds }), {
      name: 'TypeError',
      message: /refreshGraceSeconds is/,
    });
  for (const timeoutMilliseconds of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => open({ timeoutMilliseconds }), {
      name: 'TypeError',
      message: /timeoutMilliseconds is/,
    });
});
