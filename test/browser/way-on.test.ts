import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { BrowserAnswer, WayOn } from '../../src/browser/index.ts';
import { BASE_URL, closePasswords, openWorld } from '../protocol/support/world.ts';
import { AccountBrowser, realmWithAccount } from './account/account-realm.ts';
import { Browser, CALLBACK, pageOf } from './browser.ts';

const world = await openWorld();
after(async () => {
  await world.close();
  await closePasswords();
});
const HOME = 'https://web.example.test/home';
const { realm, user, account } = await realmWithAccount(world, 'acme');
await realm.client('web', {
  redirectUris: [CALLBACK],
  standardFlowEnabled: true,
  baseUrl: HOME,
});
await realm.client('plain', { redirectUris: ['https://plain.example.test/cb'], standardFlowEnabled: true });
await user('alice');

const base = '/realms/acme/protocol/openid-connect';
const ACCOUNT = `${BASE_URL}/realms/acme/account/`;

/** Returns the links of a page that has no form of its own. */
function waysOf(answer: BrowserAnswer): readonly WayOn[] {
  assert.equal(answer.show, 'page', JSON.stringify(answer));
  const { page } = answer as Extract<BrowserAnswer, { show: 'page' }>;
  assert.ok('ways' in page, JSON.stringify(page));
  return page.ways;
}

async function signedIn(): Promise<AccountBrowser> {
  const browser = new AccountBrowser(world, realm);
  await browser.logIn(await browser.authorize(), 'alice');
  return browser;
}

describe('a page without a form leads on', () => {
  it('to the account pages if the client is unknown or disabled', async () => {
    await realm.client('off', { redirectUris: [CALLBACK], enabled: false, baseUrl: HOME });
    for (const client_id of ['nobody', 'off'])
      assert.deepEqual(waysOf(await new Browser(world, realm).authorize({ client_id })), [
        { way: 'account', url: ACCOUNT },
      ]);
  });

  it('to the client’s home page, never to a URL of the request', async () => {
    for (const parameters of [
      { redirect_uri: 'https://evil.example.test/' },
      { max_age: 'x' },
      { request: 'no.request.object' },
    ])
      assert.deepEqual(waysOf(await new Browser(world, realm).authorize(parameters)), [
        { way: 'application', url: HOME },
      ]);
    const unnamed = { client_id: 'plain', redirect_uri: 'https://evil.example.test/' };
    assert.deepEqual(waysOf(await new Browser(world, realm).authorize(unnamed)), [
      { way: 'account', url: ACCOUNT },
    ]);
  });

  it('to the start of the login and to the client if the browser sent no cookie or the login has expired', async () => {
    const form = await new Browser(world, realm).authorize();
    const [restart, application] = waysOf(await new Browser(world, realm).logIn(form, 'alice'));
    assert.equal(restart!.way, 'restart');
    assert.equal(new URL(restart!.url).searchParams.get('redirect_uri'), CALLBACK);
    assert.deepEqual(application, { way: 'application', url: HOME });
    const browser = new Browser(world, realm);
    const late = await browser.authorize();
    world.clock.pass(4000);
    const expired = pageOf(await browser.logIn(late, 'alice'), 'expired');
    assert.ok(expired.restart);
  });

  it('to the sign-out if another user is signed in, and then back to the login', async () => {
    await user('bob');
    const browser = new AccountBrowser(world, realm);
    const form = await browser.authorize();
    await browser.logIn(await browser.authorize(), 'alice');
    const [first, second] = waysOf(await browser.logIn(form, 'bob'));
    assert.deepEqual(first, { way: 'sign-out', url: `${BASE_URL}${base}/logout?client_id=web` });
    assert.deepEqual(second, { way: 'application', url: HOME });
    pageOf(await browser.send('GET', first!.url), 'logout-confirm');
  });

  it('to another account if a required action cannot be done here, and names it only for the administrator', async () => {
    await user('carol', { requiredActions: ['CONFIGURE_TOTP'] });
    const browser = new Browser(world, realm);
    const action = await browser.follow(await browser.logIn(await browser.authorize(), 'carol'));
    const page = pageOf(action, 'error');
    assert.deepEqual(
      page.ways.map(({ way }) => way),
      ['other-user', 'application'],
    );
    assert.equal(page.detail, 'CONFIGURE_TOTP');
  });

  it('from the sign-out to the client that requested it, and otherwise to the sign-in', async () => {
    for (const [query, stay, out] of [
      ['', { way: 'stay', url: ACCOUNT }, { way: 'sign-in', url: ACCOUNT }],
      ['?client_id=web', { way: 'stay', url: HOME }, { way: 'application', url: HOME }],
    ] as const) {
      const browser = await signedIn();
      const confirm = await browser.send('GET', `${base}/logout${query}`);
      assert.deepEqual(waysOf(confirm), [stay]);
      const done = await browser.submit(confirm, { confirmLogout: 'Yes' });
      pageOf(done, 'info');
      assert.deepEqual(waysOf(done), [out]);
    }
  });

  it('to the sign-out if the user may not use the account pages', async () => {
    await user('dave', { roleIds: [] });
    const browser = new AccountBrowser(world, realm);
    await browser.logIn(await browser.authorize(), 'dave');
    assert.deepEqual(waysOf(await browser.open('profile')), [
      { way: 'sign-out', url: `${BASE_URL}${base}/logout` },
    ]);
  });

  it('to the same page again, or to the sign-out after a form, if the realm has no account pages or is disabled', async () => {
    await realm.put({ do: 'put', client: { ...account, enabled: false } });
    const retry = [{ way: 'retry', url: '' }];
    assert.deepEqual(waysOf(await new Browser(world, realm).authorize({ client_id: 'nobody' })), retry);
    assert.deepEqual(waysOf(await new AccountBrowser(world, realm).open('profile')), retry);
    await realm.settings({ enabled: false });
    assert.deepEqual(waysOf(await new Browser(world, realm).authorize()), retry);
    assert.deepEqual(waysOf(await new Browser(world, realm).authorize({}, 'POST')), [
      { way: 'sign-out', url: `${BASE_URL}${base}/logout` },
    ]);
  });
});
