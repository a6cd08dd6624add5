import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../client/example-realm.ts';
import { missingBrowser } from '../http/pages/chromium.ts';
import { fillLogin, shows, startShop, wait } from './shop.ts';

const missing = missingBrowser();

test('a user logs in to the single-page application, which renews its token and shares the session with another tab', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, open, url, application } = await startShop(t);
  const page = await open();
  await shows(page, 'Logged out (not_logged_in)');

  await t.test('a login with PKCE leaves nothing in the address, and no token in storage', async () => {
    await page.click('#login');
    await fillLogin(page);
    await shows(page, 'Hello, Alice Example');
    assert.equal(page.url(), url);
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    // The page remembers only that this tab has a session.
    assert.equal(stored, `[{},{"idkit ${realm.issuer} shop logged in":"yes"},""]`);
    await page.click('#orders');
    await page.getByText('two chairs').waitFor();
    assert.deepEqual(await page.getByRole('listitem').allTextContents(), ['a lamp', 'two chairs']);
  });

  await t.test('a token with less than 60 seconds left is renewed before the next call', async () => {
    const before = await realm.countEvents('refresh_token');
    await wait(page, 241_000);
    await page.click('#orders');
    await until(async () => (await realm.countEvents('refresh_token')) === before + 1, 'a renewal');
    await shows(page, 'Hello, Alice Example');
  });

  await t.test('another tab has the session immediately, without another login', async () => {
    const other = await open();
    await shows(other, 'Hello, Alice Example');
    assert.equal(await realm.countEvents('login'), 1);
  });

  assert.equal(application.output().includes('reported'), false);
});

test('after a reload, the application has a session again without a page, until the user logs out', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { open, url, application } = await startShop(t);
  const page = await open();
  let redirects = 0;
  page.on('request', (request) => {
    if (request.url().includes('prompt=none')) redirects += 1;
  });
  await page.click('#login');
  await fillLogin(page);
  await shows(page, 'Hello, Alice Example');
  await page.goto(`${url}?view=list#end`);
  await shows(page, 'Hello, Alice Example');
  await page.reload();
  await shows(page, 'Hello, Alice Example');
  assert.equal(page.url(), `${url}?view=list#end`);
  assert.equal(redirects, 2);
  await page.click('#orders');
  await page.getByText('two chairs').waitFor();

  // The service has no session any more, so the application knows it after one redirect, and does not repeat it.
  await page.context().clearCookies();
  await page.reload();
  await shows(page, 'Logged out (not_logged_in');
  await page.reload();
  await shows(page, 'Logged out (not_logged_in)');
  assert.equal(redirects, 3);
  assert.equal(application.output().includes('reported'), false);
});

test('a service that is unreachable during a reload does not end the session in the tab', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { open, context } = await startShop(t);
  const page = await open();
  await page.click('#login');
  await fillLogin(page);
  await shows(page, 'Hello, Alice');
  const discovery = '**/.well-known/openid-configuration';
  await context.route(discovery, (route) => route.abort());
  await page.reload();
  await shows(page, 'Logged out (login_failed');
  await context.unroute(discovery);
  await page.reload();
  await shows(page, 'Hello, Alice');
});

test('twenty tabs that renew in parallel send one refresh and stay logged in', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, open } = await startShop(t);
  const first = await open();
  await first.click('#login');
  await fillLogin(first);
  await shows(first, 'Hello, Alice');
  const pages = [first];
  // The tabs open one after another. A new tab waits only one second for replies, and nineteen parallel tabs would keep
  // a small machine busy for longer.
  while (pages.length < 20) {
    const page = await open();
    await shows(page, 'Hello, Alice');
    pages.push(page);
  }
  assert.equal(await realm.countEvents('login'), 1);
  const before = await realm.countEvents('refresh_token');
  await Promise.all(
    pages.map(async (page) => {
      await wait(page, 241_000);
      await page.evaluate("document.getElementById('orders').click()");
      await page.getByRole('listitem').first().waitFor();
    }),
  );
  assert.equal((await realm.countEvents('refresh_token')) - before, 1);
  assert.equal(await realm.countEvents('refresh_token', 'invalid_token'), 0);
  for (const page of pages) await shows(page, 'Hello, Alice');
});

test('if the session ends elsewhere, the visible tab reports it and logs in, and a hidden tab takes over the new session', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, context, open, application } = await startShop(t);
  await context.addInitScript(`
    Object.defineProperty(document, 'visibilityState', { get: () => globalThis.hiddenTab ? 'hidden' : 'visible' });
  `);
  const page = await open();
  await page.click('#login');
  await fillLogin(page);
  await shows(page, 'Hello, Alice');
  const hidden = await open();
  await shows(hidden, 'Hello, Alice');
  await hidden.evaluate('globalThis.hiddenTab = true');
  const revoke = ['admin', 'session', 'revoke', '--realm', 'example', '--username', 'alice', '--yes'];
  const ended = await realm.service.run(revoke);
  assert.equal(ended.code, 0, ended.stderr);

  await wait(page, 241_000);
  await page.click('#orders');
  await page.waitForSelector('#kc-form-login');
  await shows(hidden, 'Logged out (renewal_refused');
  const [, report] = await application.printed(/reported: (.*)/);
  const { reason, status, error } = JSON.parse(report!) as Record<string, unknown>;
  assert.deepEqual([reason, status, error], ['renewal_refused', 400, 'invalid_grant']);
  assert.doesNotMatch(application.output(), /ey[\w-]{20,}/);

  await fillLogin(page);
  await shows(page, 'Hello, Alice');
  await hidden.evaluate(
    "globalThis.hiddenTab = false; document.dispatchEvent(new Event('visibilitychange'))",
  );
  await shows(hidden, 'Hello, Alice');
  assert.equal(await realm.countEvents('login'), 2);
});

test('if a tab closes during its renewal, the session does not end and the user need not log in again', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, open, application } = await startShop(t);
  const page = await open();
  await page.click('#login');
  await fillLogin(page);
  await shows(page, 'Hello, Alice');
  const dying = await open();
  await shows(dying, 'Hello, Alice');
  // The service renews the token, but the tab never receives the response.
  await dying.evaluate(`{
    const { fetch } = globalThis;
    const { promise, resolve } = Promise.withResolvers();
    globalThis.renewed = promise;
    globalThis.fetch = async (...call) => {
      const answer = await fetch(...call);
      if (!String(call[0]).endsWith('/token')) return answer;
      resolve();
      return new Promise(() => {});
    };
  }`);
  await wait(dying, 241_000);
  await dying.click('#orders');
  await dying.evaluate('globalThis.renewed');
  await dying.close();
  await wait(page, 241_000);
  await page.click('#orders');
  await application.printed(/reported: .*renewal_interrupted/);
  await shows(page, 'Hello, Alice');
  assert.equal(await realm.countEvents('refresh_token', 'invalid_token'), 0);
  await page.click('#orders');
  await page.getByText('two chairs').waitFor();
});

test('an unreachable service does not log the user out', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { open, context } = await startShop(t);
  const page = await open();
  await page.click('#login');
  await fillLogin(page);
  await shows(page, 'Hello, Alice');
  await context.route('**/token', (route) => route.abort());
  await wait(page, 241_000);
  await page.click('#orders');
  await page.getByText('two chairs').waitFor();
  await shows(page, 'Hello, Alice');
});

test('ignores the response to a login that this tab did not start (login CSRF, code injection)', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, context, url } = await startShop(t);
  const page = await context.newPage();
  const iss = encodeURIComponent(realm.issuer);
  await page.goto(`${url}?keep=1&state=guessed&code=stolen&iss=${iss}&session_state=x`);
  await shows(page, 'Logged out (not_logged_in)');
  assert.equal(page.url(), `${url}?keep=1`);
  assert.equal(await realm.countEvents('code_to_token', 'invalid_code'), 0);
});

test('rejects a response of another issuer before it uses the code (mix-up, RFC 9207)', async (t) => {
  if (missing !== undefined) return t.skip(missing);
  const { realm, open, url } = await startShop(t);
  const page = await open();
  await page.click('#login');
  await page.waitForSelector('#kc-form-login');
  const state = new URL(page.url()).searchParams.get('state');
  await page.goto(`${url}?state=${state}&code=stolen&iss=${encodeURIComponent('https://evil.example')}`);
  await shows(page, 'Logged out (login_failed');
  assert.equal(await realm.countEvents('code_to_token', 'invalid_code'), 0);
});
