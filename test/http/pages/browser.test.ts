import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { RESOURCES, renderFormPost, renderPage, renderPlainError } from '../../../src/http/pages/index.ts';
import { findTexts } from '../../../src/http/pages/messages/texts.ts';
import { accountSamples } from './account-samples.ts';
import { launchBrowser, missingBrowser } from './chromium.ts';
import { findViolations } from './find-violations.ts';
import { samples } from './samples.ts';

const skip = missingBrowser();

/** The pages that the server sends, by path, and the requests that it received. */
const pages = new Map<string, { markup: string; policy: string }>();
const requests: { method: string; url: string; body: string }[] = [];
let server: Server;
let origin = '';
let browser: Browser;

before(async () => {
  if (skip !== undefined) return;
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ method: request.method!, url: request.url!, body });
    const resource = RESOURCES.find(({ path }) => path === request.url);
    const page = pages.get(request.url!);
    response.setHeader('content-type', resource?.contentType ?? 'text/html;charset=utf-8');
    if (page !== undefined) response.setHeader('content-security-policy', page.policy);
    response.end(resource?.content ?? page?.markup ?? '<!DOCTYPE html><title>other</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const locale of ['en', 'de'])
    for (const { name, frame, page } of [...samples(undefined, locale), ...accountSamples(undefined, locale)])
      pages.set(`/${locale}/${encodeURIComponent(name)}`, renderPage(frame, page, { basePath: '' }));
  pages.set('/en/plain-error', renderPlainError('HTTP 404 Not Found', { basePath: '' }));
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  server?.close();
});

for (const [look, colorScheme, width, language] of [
  ['in light mode', 'light', 1024, 'en'],
  ['in dark mode', 'dark', 1024, 'en'],
  ['on a phone', 'light', 320, 'de'],
] as const)
  test(`all pages pass axe’s accessibility checks, ${look}`, { skip }, async () => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 720 } });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(`${page.url()}: ${message.text()}`));
    const paths = [...pages.keys()].filter((path) => path.startsWith(`/${language}/`));
    for (const path of paths) {
      await page.goto(origin + path);
      for (const violation of await findViolations(page)) problems.push(`${path}: ${violation}`);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(overflow) > 0) problems.push(`${path}: ${overflow} px wider than the window`);
    }
    await context.close();
    assert.ok(paths.length > 10);
    assert.deepEqual(problems, []);
  });

test('findViolations reports the violations of an inaccessible page', { skip }, async () => {
  const page = await browser.newPage();
  await page.setContent('<html><body><input><img src="x"></body></html>');
  assert.notDeepEqual(await findViolations(page), []);
  await page.close();
});

test('the login form can be filled in and submitted with the keyboard, without scripts', {
  skip,
}, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${origin}/en/login`);
  // The browser focuses the first field shortly after the page has loaded.
  await page.waitForSelector('#username:focus');
  await page.keyboard.type('alice');
  await page.keyboard.press('Tab');
  await page.keyboard.type('p<&"ss');
  await page.keyboard.press('Enter');
  await page.waitForURL(/login-actions/);
  const sent = requests.findLast(({ method }) => method === 'POST')!;
  assert.match(sent.url, /^\/realms\/acme\/login-actions\/authenticate\?session_code=abc&execution=def/);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(sent.body)), {
    username: 'alice',
    password: 'p<&"ss',
    login: 'Sign In',
  });
  await context.close();
});

test('the form_post page submits itself, and its policy allows that (Form Post §2)', { skip }, async () => {
  const state = `(,]=[*>/?'~)<^%}"`;
  const fields = [['state', state]] as const;
  pages.set(
    '/post',
    renderFormPost({ to: `${origin}/cb?keep=1`, fields }, findTexts('en'), { basePath: '' }),
  );
  const page = await browser.newPage();
  await page.goto(`${origin}/post`);
  await page.waitForURL(`${origin}/cb?keep=1`);
  const sent = requests.findLast(({ method }) => method === 'POST')!;
  assert.equal(new URLSearchParams(sent.body).get('state'), state);
  await page.close();
});

test('without scripts, the form_post page has a button (Form Post §2)', { skip }, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${origin}/post`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${origin}/cb?keep=1`);
  await context.close();
});

test('front-channel logout loads every frame, then follows the redirect (Front-Channel Logout §2)', {
  skip,
}, async () => {
  const frames = ['one', 'two'].map((client) => ({ client, url: `${origin}/out?iss=x&sid=${client}` }));
  const frame = { realm: { name: 'acme', displayName: 'Acme' }, locale: 'en', languages: [] };
  const continueAt = `${origin}/bye?state=1`;
  pages.set(
    '/front',
    renderPage(frame, { page: 'frontchannel-logout', frames, continueAt }, { basePath: '' }),
  );
  const page = await browser.newPage();
  requests.length = 0;
  await page.goto(`${origin}/front`);
  await page.waitForURL(continueAt);
  const urls = requests.map(({ url }) => url);
  for (const { url } of frames)
    assert.ok(urls.indexOf(url.slice(origin.length)) < urls.indexOf('/bye?state=1'), urls.join(' '));
  assert.ok(urls.includes('/out?iss=x&sid=two'));
  await page.close();
});
