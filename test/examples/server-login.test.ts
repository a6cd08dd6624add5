import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startExampleRealm } from '../client/example-realm.ts';
import { passLogin } from '../client/pass-login.ts';
import { freePort } from '../free-port.ts';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { runExample } from './run-example.ts';
import { fillLogin, shows } from './shop.ts';

const CLIENT_SECRET = 'change-me-portal-secret';

test('a server logs a user in with a confidential client, and the browser gets only a cookie', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const port = await freePort();
  const realm = await startExampleRealm(t, (text) => text.replaceAll('localhost:3001', `localhost:${port}`));
  const BASE_URL = realm.address;
  const api = runExample(t, 'protected-api.js', { BASE_URL, PORT: '0' });
  const [, API] = await api.printed(/protected API on (\S+)/);
  const env = { BASE_URL, API: API!, PORT: String(port), CLIENT_SECRET };
  const portal = runExample(t, 'server-login.js', env);
  const [, url] = await portal.printed(/the portal is on (\S+)/);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext();
  const page = await context.newPage();
  const readCookie = async () => (await context.cookies(url)).find(({ name }) => name === 'portal');

  await page.goto(url!);
  await shows(page, 'You are not logged in.');
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.waitForSelector('#kc-form-login');
  const before = await readCookie();
  await fillLogin(page, 'alice');
  await shows(page, 'Hello, Alice Example');
  assert.equal(page.url(), url);
  const cookie = await readCookie();
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Lax']);
  assert.notEqual(cookie?.value, before?.value);
  assert.equal(
    await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'),
    '[{},{}]',
  );

  await page.getByRole('link', { name: 'Show my orders' }).click();
  await page.getByText('two chairs').waitFor();

  // The cookie from before the login is not a session.
  const stranger = await fetch(`${url}orders`, {
    headers: { cookie: `portal=${before?.value}` },
    redirect: 'manual',
  });
  assert.deepEqual([stranger.status, stranger.headers.get('location')], [303, '/login?returnTo=%2Forders']);

  await page.goto(url!);
  await page.getByRole('button', { name: 'Log out' }).click();
  await shows(page, 'You are not logged in.');
  assert.equal(await realm.countEvents('logout'), 1);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.waitForSelector('#password');
  assert.doesNotMatch(portal.output(), /ey[\w-]{20,}|change-me/);
});

test('without its secret, the server names the cause in its log', async (t) => {
  const port = await freePort();
  const realm = await startExampleRealm(t);
  const portal = runExample(t, 'server-login.js', {
    BASE_URL: realm.address,
    PORT: String(port),
    CLIENT_SECRET: '',
  });
  const [, url] = await portal.printed(/the portal is on (\S+)/);
  const login = await fetch(`${url}login`, { redirect: 'manual' });
  const [cookie = ''] = login.headers.getSetCookie().map((line) => line.split(';')[0]!);
  const state = new URL(login.headers.get('location')!).searchParams.get('state');
  const query = new URLSearchParams({ code: 'x', state: state!, iss: realm.issuer });
  const callback = await fetch(`${url}callback?${query}`, { headers: { cookie }, redirect: 'manual' });
  assert.equal(callback.status, 502);
  await portal.printed(/secret_missing: .*the secret of the client portal is empty/);
});

test('after the login, the server returns to its own pages only, and a form of another site does not log out', async (t) => {
  const port = await freePort();
  const realm = await startExampleRealm(t, (text) => text.replaceAll('localhost:3001', `localhost:${port}`));
  const origin = `http://localhost:${port}`;
  const env = { BASE_URL: realm.address, PORT: String(port), CLIENT_SECRET };
  await runExample(t, 'server-login.js', env).printed(/the portal is on/);
  const get = (path: string, cookie = '') =>
    fetch(`${origin}${path}`, { headers: { cookie }, redirect: 'manual' });
  const logIn = async (returnTo: string) => {
    const login = await get(`/login?returnTo=${encodeURIComponent(returnTo)}`);
    const address = await passLogin(new URL(login.headers.get('location')!), 'alice');
    const callback = await get(address.slice(origin.length), cookieOf(login));
    assert.equal(callback.status, 303);
    return { location: callback.headers.get('location'), cookie: cookieOf(callback) };
  };
  for (const [returnTo, location] of [
    ['/orders?page=2', `${origin}/orders?page=2`],
    ['https://evil.example/', `${origin}/`],
    ['//evil.example/', `${origin}/`],
    ['/\\evil.example/', `${origin}/`],
    ['/.//evil.example/', `${origin}//evil.example/`],
    ['javascript:alert(1)', `${origin}/`],
  ] as const)
    assert.equal((await logIn(returnTo)).location, location, returnTo);

  const { cookie } = await logIn('/');
  for (const from of ['https://evil.example', undefined, origin]) {
    const headers = { cookie, ...(from === undefined ? {} : { origin: from }) };
    const { status } = await fetch(`${origin}/logout`, { method: 'POST', headers, redirect: 'manual' });
    assert.equal(status, from === origin ? 303 : 403);
    assert.equal(/Hello/.test(await (await get('/', cookie)).text()), from !== origin);
  }
});

function cookieOf(response: Response): string {
  return response.headers.getSetCookie().map((line) => line.split(';')[0])[0] ?? '';
}
