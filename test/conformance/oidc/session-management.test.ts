import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { logoutUrl } from './logout-client.ts';
import { type Platform, startPlatform } from './platform.ts';
import { fillLogin, openPage } from './real-browser.ts';
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

const frameUrl = () => `${platform.protocol}/login-status-iframe.html`;

/**
 * Posts a message from a page of the client to the provider's frame, and returns the reply (Session Management 3.1).
 */
async function ask(page: Page, sessionState: string): Promise<string> {
  await page.goto(`${platform.web.origin}/one/watch`);
  const message = `${platform.one.clientId} ${sessionState}`;
  // The function is a string, because the TypeScript types of browser APIs are not available here.
  return page.evaluate(`new Promise((resolve) => {
    const [src, text] = ${JSON.stringify([frameUrl(), message])};
    const frame = document.createElement('iframe');
    frame.src = src;
    addEventListener('message', (event) => {
      if (event.source === frame.contentWindow) resolve(event.origin + ' ' + event.data);
    });
    frame.onload = () => frame.contentWindow.postMessage(text, new URL(src).origin);
    document.body.append(frame);
  })`);
}

describe('requirements of the profile Session Management OP', () => {
  test('discovery has check_session_iframe, and browsers may frame that page (Session Management 2, 3.3)', async () => {
    const answer = await fetch(`${platform.issuer}/.well-known/openid-configuration`);
    const document = (await answer.json()) as Record<string, unknown>;
    assert.equal(document['check_session_iframe'], frameUrl());
    const page = await fetch(frameUrl());
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    assert.equal(page.headers.get('x-frame-options'), null);
    assert.doesNotMatch(page.headers.get('content-security-policy')!, /frame-ancestors/);
  });

  test('the response has a session_state without spaces, which stays the same for the same login (Session Management 2)', async () => {
    const agent = new UserAgent(platform);
    const { session_state: first = '' } = await agent.logInAt(platform.one);
    assert.match(first, /^[^\s]+$/);
    const silent = await agent.authorize(platform.one, { prompt: 'none' });
    assert.equal(silent.is === 'answer' && silent.fields['session_state'], first);
    const other = await new UserAgent(platform).logInAt(platform.one);
    assert.notEqual(other['session_state'], first);
  });

  test('in Chromium, the frame replies "unchanged", "changed" after a logout, and "unchanged" for the state of a new login (Session Management 3.1, 3.2)', {
    skip,
  }, async () => {
    const { one, service } = platform;
    const { origin } = new URL(service.address);
    const agent = new UserAgent(platform);
    const { page, problems, close } = await openPage(browser);
    const logIn = async () => {
      await page.goto(String(agent.authorizationUrl(one)));
      await fillLogin(page);
      await page.waitForURL(`${one.redirectUri}?**`);
      return Object.fromEntries(new URL(page.url()).searchParams);
    };
    const fields = await logIn();
    const { id_token: idToken = '' } = await tokensOf(platform, one, fields);
    const state = fields['session_state']!;
    assert.equal(await ask(page, state), `${origin} unchanged`);
    assert.equal(await ask(page, `${state}x`), `${origin} changed`);
    await page.goto(logoutUrl(platform, { id_token_hint: idToken }));
    assert.equal(await ask(page, state), `${origin} changed`);
    const again = (await logIn())['session_state']!;
    assert.notEqual(again, state);
    assert.equal(await ask(page, state), `${origin} changed`);
    assert.equal(await ask(page, again), `${origin} unchanged`);
    assert.deepEqual(problems, []);
    await close();
  });

  test('in Chromium, the frame replies "error" to an invalid message, and to a page that does not belong to the client (Session Management 3.2)', {
    skip,
  }, async () => {
    const { origin } = new URL(platform.service.address);
    const closed = await platform.addClient('closed', { webOrigins: [] });
    const { page, close } = await openPage(browser);
    await page.goto(`${platform.web.origin}/one/watch`);
    const reply = await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.src = ${JSON.stringify(frameUrl())};
      addEventListener('message', (event) => resolve(event.origin + ' ' + event.data));
      frame.onload = () => frame.contentWindow.postMessage('${closed.clientId} x', '*');
      document.body.append(frame);
    })`);
    assert.equal(reply, `${origin} error`);
    await close();
  });
});
