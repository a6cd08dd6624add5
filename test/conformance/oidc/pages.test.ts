import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { find, readElements } from '../../http/pages/read-page.ts';
import { PAGES_WITH_SCRIPTS } from './page-scripts.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { TestClient } from './realm.ts';
import { tokensOf } from './token-client.ts';
import { answerOf, codeOf, shown, textOf, UserAgent } from './user-agent.ts';

let platform: Platform;
let agreed: TestClient;
before(async () => {
  platform = await startPlatform();
  agreed = await platform.addClient('agreed', { consentRequired: true });
});
after(() => platform.stop());

const agent = () => new UserAgent(platform);
const logout = (parameters: Readonly<Record<string, string>> = {}) =>
  `${platform.protocol}/logout?${new URLSearchParams(parameters)}`;

describe('the elements of the pages that login scripts rely on', () => {
  test('the login page is at the authorization endpoint, and its form works without scripts', async () => {
    const browser = agent();
    const url = String(browser.authorizationUrl(platform.one));
    const answer = await browser.jar.fetch(url);
    assert.equal(answer.status, 200);
    const markup = await answer.text();
    const form = find(markup, '#kc-form-login');
    assert.deepEqual([form.tag, form.attributes['method']], ['form', 'post']);
    for (const name of ['username', 'password']) {
      const { tag, attributes } = find(markup, `#${name}`);
      assert.deepEqual([tag, attributes['name']], ['input', name]);
    }
    const button = find(markup, '#kc-login').attributes;
    assert.deepEqual([button['type'], button['name']], ['submit', 'login']);
    // Its script only adds a button that shows the password, and needs no other file.
    const scripts = readElements(markup).filter(({ tag }) => tag === 'script');
    assert.deepEqual(
      scripts.map(({ attributes }) => attributes),
      [{}],
    );
  });

  test('the consent page is below login-actions/required-action, with the buttons accept and cancel', async () => {
    for (const name of ['cancel', 'accept']) {
      const browser = agent();
      const page = shown(await browser.logIn(await browser.authorize(agreed, { scope: 'openid email' })));
      assert.match(new URL(page.url).pathname, /\/login-actions\/required-action/);
      const [accept, cancel] = ['accept', 'cancel'].map((one) => find(page.markup, one));
      assert.ok(accept!.attributes['type'] === 'submit' && cancel!.attributes['type'] === 'submit');
      const form = readElements(page.markup).find(({ tag }) => tag === 'form')!;
      const outcome = await browser.open(form.attributes['action']!, { [name]: 'x' });
      if (name === 'accept') codeOf(outcome);
      else assert.equal(answerOf(outcome).fields['error'], 'access_denied');
    }
  });

  test('the logout confirmation has a button kc-logout named confirmLogout, and posts to logout-confirm', async () => {
    const browser = agent();
    await browser.logInAt(platform.one);
    const page = shown(await browser.open(logout()));
    const button = find(page.markup, '#kc-logout').attributes;
    assert.deepEqual([button['type'], button['name']], ['submit', 'confirmLogout']);
    const form = readElements(page.markup).find(({ tag }) => tag === 'form')!;
    assert.deepEqual(
      [form.attributes['method'], new URL(form.attributes['action']!).pathname],
      ['post', '/realms/conformance/protocol/openid-connect/logout/logout-confirm'],
    );
  });

  test('the page for a second login asks the user to re-authenticate, and shows the fixed user name', async () => {
    const browser = agent();
    await browser.logInAt(platform.one);
    const page = shown(await browser.authorize(platform.one, { prompt: 'login' }));
    assert.match(textOf(page), /Please sign in again to continue/);
    assert.match(page.markup, /alice/);
    assert.ok(!readElements(page.markup).some(({ attributes }) => attributes['name'] === 'username'));
  });

  test('the pages contain the texts that login scripts look for', async () => {
    const { one, web } = platform;
    const browser = agent();
    const { id_token: idToken = '' } = await tokensOf(platform, one, await browser.logInAt(one));
    const other = { post_logout_redirect_uri: `${web.origin}/other` };
    const wanted: readonly (readonly [RegExp, Promise<unknown>])[] = [
      [/Invalid parameter: redirect_uri/, browser.authorize(one, { redirect_uri: `${web.origin}/x` })],
      [/Invalid redirect uri/, browser.open(logout({ ...other, id_token_hint: idToken }))],
      [/Invalid parameter: id_token_hint/, browser.open(logout({ id_token_hint: `${idToken}x` }))],
      [/Missing parameters: id_token_hint/, browser.open(logout(other))],
      [/Invalid Request/, browser.authorize(one, { request: 'no.request.object' })],
    ];
    for (const [text, outcome] of wanted) {
      const page = shown((await outcome) as Awaited<ReturnType<typeof browser.open>>);
      assert.equal(page.status, 400);
      assert.match(textOf(page), /We are sorry/);
      assert.match(textOf(page), text);
    }
    assert.match(textOf(shown(await browser.open(logout()))), /Do you want to sign out\?/);
    const done = await browser.open(logout({ id_token_hint: idToken }));
    assert.match(textOf(shown(done)), /You are signed out/);
  });

  for (const [name, open] of Object.entries(PAGES_WITH_SCRIPTS))
    test(`${name} has one classic inline script, and the Content-Security-Policy contains its hash`, async () => {
      const { markup, headers } = await open(platform);
      const scripts = readElements(markup).filter(({ tag }) => tag === 'script');
      assert.equal(scripts.length, 1);
      assert.deepEqual(scripts[0]!.attributes, {});
      const bytes = new TextEncoder().encode(scripts[0]!.text);
      const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64');
      const policy = headers.get('content-security-policy')!;
      assert.ok(policy.includes(`script-src 'sha256-${hash}'`), policy);
      assert.doesNotMatch(policy, /form-action|unsafe/);
      assert.doesNotMatch(markup, / on[a-z]+="/);
    });
});
