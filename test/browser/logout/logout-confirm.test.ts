import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { BrowserAnswer } from '../../../src/browser/index.ts';
import { closePasswords, openWorld } from '../../protocol/support/world.ts';
import { Browser, CALLBACK, errorOf, pageOf, realmWithLogin, redirectOf } from '../browser.ts';

const world = await openWorld();
after(async () => {
  await world.close();
  await closePasswords();
});
const kept = { internationalizationEnabled: true, supportedLocales: ['en', 'de'] };
const { realm } = await realmWithLogin(world, 'acme', { kept });

const ask = (browser: Browser, parameters: Record<string, string> = {}, method: 'GET' | 'POST' = 'GET') => {
  const path = '/realms/acme/protocol/openid-connect/logout';
  if (method === 'POST') return browser.send('POST', path, parameters);
  return browser.send('GET', `${path}?${new URLSearchParams(parameters)}`);
};
const agree = (browser: Browser, page: BrowserAnswer) => browser.submit(page, { confirmLogout: 'Yes' });
const localeOf = (answer: BrowserAnswer) => (answer.show === 'page' ? answer.frame.locale : undefined);
const back = { client_id: 'web', post_logout_redirect_uri: CALLBACK, state: 'z' };

async function loggedIn(): Promise<Browser> {
  const browser = new Browser(world, realm);
  await browser.logIn(await browser.authorize(), 'alice');
  return browser;
}

describe('the page that confirms a logout', () => {
  it('the confirmation page of a second tab still redirects after the first tab has logged the user out', async () => {
    const browser = await loggedIn();
    const [one, two, plain] = [await ask(browser, back), await ask(browser, back), await ask(browser)];
    for (const page of [one, two])
      assert.equal(redirectOf(await agree(browser, page)).href, `${CALLBACK}?state=z`);
    pageOf(await agree(browser, plain), 'info');
  });

  it('the confirmation page of an ended login cannot end the next login (CSRF)', async () => {
    const browser = await loggedIn();
    const page = await ask(browser, back);
    await agree(browser, await ask(browser));
    await browser.logIn(await browser.authorize(), 'alice');
    assert.equal(errorOf(await agree(browser, page)), '400 pageExpiredMessage');
  });

  it('the confirmation page and the next page are in the language that the client requests (RP-Initiated Logout §2)', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const browser = await loggedIn();
      const page = await ask(browser, { ui_locales: 'se de' }, method);
      pageOf(page, 'logout-confirm');
      assert.equal(localeOf(page), 'de');
      assert.equal(localeOf(await agree(browser, page)), 'de');
      const refused = await ask(browser, { ui_locales: 'de', id_token_hint: 'x' }, method);
      assert.deepEqual([errorOf(refused), localeOf(refused)], ['400 invalidParameterMessage', 'de']);
    }
  });

  it('rejects a state that is too long for the form of the confirmation page', async () => {
    const browser = await loggedIn();
    const refused = await ask(browser, { ...back, state: 'ü'.repeat(8000) }, 'POST');
    assert.equal(errorOf(refused), '400 invalidParameterMessage');
    const fits = await ask(browser, { ...back, state: 'x'.repeat(4000) }, 'POST');
    assert.equal(redirectOf(await agree(browser, fits)).searchParams.get('state')?.length, 4000);
  });
});
