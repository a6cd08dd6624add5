import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { SECRETS, startTestService, type TestService } from '../service.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

const skip = missingBrowser();

let service: TestService;
let client: RelyingParty;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let sessionState = '';

before(async () => {
  if (skip !== undefined) return;
  service = await startTestService();
  client = await startRelyingParty(service);
  browser = await launchBrowser();
  context = await browser.newContext();
  page = await context.newPage();
  await page.goto(client.authorizationUrl());
  await page.fill('#username', SECRETS.IDKIT_ADMIN_USERNAME);
  await page.fill('#password', SECRETS.IDKIT_ADMIN_PASSWORD);
  await page.click('#kc-login');
  await page.waitForURL(`${client.redirectUri}?**`);
  sessionState = new URL(page.url()).searchParams.get('session_state')!;
});

after(async () => {
  await browser?.close();
  client?.close();
  await service?.stop();
});

const protocol = () => `${service.address}/realms/master/protocol/openid-connect`;

/** Loads a frame of the service, sends it a message as keycloak-js does, and returns the reply. */
async function askFrame(url: string, message = ''): Promise<string> {
  // The code is a string, because the TypeScript types of browser APIs are not available here.
  return page.evaluate(`new Promise((resolve) => {
    const [src, text] = ${JSON.stringify([url, message])};
    const frame = document.createElement('iframe');
    frame.src = src;
    frame.setAttribute('sandbox', 'allow-storage-access-by-user-activation allow-scripts allow-same-origin');
    addEventListener('message', (event) => {
      if (event.source === frame.contentWindow) resolve(String(event.data));
    });
    frame.onload = () => {
      if (text !== '') frame.contentWindow.postMessage(text, new URL(src).origin);
    };
    document.body.append(frame);
  })`);
}

const status = (message: string) => askFrame(`${protocol()}/login-status-iframe.html`, message);

test('the session iframe replies "unchanged" to the client of the login (Session Management §3.2)', {
  skip,
}, async () => {
  assert.notEqual(sessionState, '');
  assert.equal(await status(`${client.clientId} ${sessionState}`), 'unchanged');
});

test('the session iframe replies "changed" for another session state', { skip }, async () => {
  assert.equal(await status(`${client.clientId} ${sessionState}x`), 'changed');
  assert.equal(await status(`${client.clientId} `), 'changed');
});

test('the session iframe replies "error" to a page that does not belong to the client', {
  skip,
}, async () => {
  assert.equal(await status(`security-admin-console ${sessionState}`), 'error');
  assert.equal(await status(`nobody ${sessionState}`), 'error');
});

test('keycloak-js detects that cookies work in frames (step1.html, step2.html)', { skip }, async () => {
  assert.equal(await askFrame(`${protocol()}/3p-cookies/step1.html`), 'supported');
});

test('without a login, the session iframe replies "changed", and "unchanged" for an empty session state', {
  skip,
}, async () => {
  await context.clearCookies();
  assert.equal(await status(`${client.clientId} ${sessionState}`), 'changed');
  assert.equal(await status(`${client.clientId} `), 'unchanged');
});

test('any origin may frame the session pages, and caches do not store them', async (t) => {
  if (skip !== undefined) return t.skip(skip);
  for (const path of ['login-status-iframe.html', '3p-cookies/step1.html', '3p-cookies/step2.html']) {
    const answer = await fetch(`${protocol()}/${path}`);
    assert.equal(answer.headers.get('x-frame-options'), null, path);
    const policy = answer.headers.get('content-security-policy')!;
    const connects = path.startsWith('login') ? "connect-src 'self'; " : '';
    assert.match(policy, /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; /, path);
    assert.equal(policy.split('; ').slice(2).join('; '), `${connects}base-uri 'none'`, path);
  }
  const unknown = await fetch(`${service.address}/realms/nope/protocol/openid-connect/3p-cookies/step1.html`);
  assert.equal(unknown.status, 404);
});
