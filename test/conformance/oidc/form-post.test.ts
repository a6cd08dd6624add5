import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { readElements } from '../../http/pages/read-page.ts';
import { type Platform, startPlatform } from './platform.ts';
import { fillLogin, openPage } from './real-browser.ts';
import { rowsOfLogin } from './rows-of-login.ts';
import { rowsOfTokens } from './rows-of-tokens.ts';
import { tokensOf } from './token-client.ts';
import { UserAgent } from './user-agent.ts';

const skip = missingBrowser();

let platform: Platform;
let browser: Browser;
before(async () => {
  platform = await startPlatform();
  if (skip === undefined) browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform.stop();
});

// Each test has its own browser session, so the tests can run in parallel.
describe('requirements of the profile Basic OP, with form_post', { concurrency: 6 }, () => {
  rowsOfLogin(() => platform, 'form_post');
  rowsOfTokens(() => platform, 'form_post');
});

describe('requirements of the profile Form Post OP', () => {
  /** A state with characters that are special in HTML, in URLs or in scripts. */
  const state = `</form><script>alert(1)</script>"'&amp;&lt; +%41=?#ü`;

  test('the response is a page with status 200 and no-store, and its form contains only the response parameters (Form Post 2)', async () => {
    const agent = new UserAgent(platform, 'form_post');
    await agent.logInAt(platform.one);
    for (const [parameters, members] of [
      [{ state }, ['code', 'iss', 'session_state', 'state']],
      [{ state, scope: 'openid nothing' }, ['error', 'error_description', 'iss', 'state']],
    ] as const) {
      const url = agent.authorizationUrl(platform.one, { ...parameters, prompt: 'none' });
      const answer = await agent.jar.fetch(String(url));
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type')!, /^text\/html/);
      assert.match(answer.headers.get('cache-control')!, /no-store/);
      const elements = readElements(await answer.text());
      const [form, ...others] = elements.filter(({ tag }) => tag === 'form');
      assert.equal(others.length, 0);
      assert.deepEqual(form!.attributes, { method: 'post', action: platform.one.redirectUri });
      const inputs = elements.filter(({ tag }) => tag === 'input').map(({ attributes }) => attributes);
      assert.deepEqual(inputs.map(({ name }) => name).sort(), members);
      assert.equal(inputs.find(({ name }) => name === 'state')!['value'], state);
    }
  });

  test('in Chromium, the page submits itself and the state is unchanged (Form Post 2)', {
    skip,
  }, async () => {
    const { one, web } = platform;
    const agent = new UserAgent(platform, 'form_post');
    const { page, problems, close } = await openPage(browser);
    await page.goto(String(agent.authorizationUrl(one, { state })));
    await fillLogin(page);
    await page.waitForURL(one.redirectUri);
    const { method, type, body } = web.receivedAt('/one/cb').at(-1)!;
    assert.deepEqual([method, type], ['POST', 'application/x-www-form-urlencoded']);
    assert.deepEqual([...body.keys()].sort(), ['code', 'iss', 'session_state', 'state']);
    assert.equal(body.get('state'), state);
    const tokens = await tokensOf(platform, one, Object.fromEntries(body));
    await platform.verifyIdToken(one, tokens['id_token']);
    const refused = String(agent.authorizationUrl(one, { prompt: 'none', scope: 'openid nothing' }));
    await page.goto('about:blank');
    await page.goto(refused);
    await page.waitForURL(one.redirectUri);
    assert.equal(web.receivedAt('/one/cb').at(-1)!.body.get('error'), 'invalid_scope');
    assert.deepEqual(problems, []);
    await close();
  });

  test('in a browser without scripts, a button submits the form (Form Post 2)', { skip }, async () => {
    const { one, web } = platform;
    const agent = new UserAgent(platform, 'form_post');
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(String(agent.authorizationUrl(one, { state: 'by-hand' })));
    await fillLogin(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(one.redirectUri);
    assert.equal(web.receivedAt('/one/cb').at(-1)!.body.get('state'), 'by-hand');
    await close();
  });
});
