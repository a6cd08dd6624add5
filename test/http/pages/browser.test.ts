import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { RESOURCES, renderFormPost, renderPage, renderPlainError } from '../../../src/http/pages/index.ts';
import { findTexts } from '../../../src/http/pages/messages/texts.ts';
import { PAGE_LOCALES } from '../../../src/model/index.ts';
import { accountSamples } from './account-samples.ts';
import { collectMessages, launchBrowser, missingBrowser } from './chromium.ts';
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
  for (const locale of PAGE_LOCALES)
    for (const { name, frame, page } of [...samples(undefined, locale), ...accountSamples(undefined, locale)])
      pages.set(`/${locale}/${encodeURIComponent(name)}`, renderPage(frame, page, { basePath: '' }));
  for (const locale of PAGE_LOCALES)
    pages.set(
      `/${locale}/plain-error`,
      renderPlainError(404, { locale, ways: [{ way: 'retry', url: '' }], detail: 'x' }, { basePath: '' }),
    );
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  server?.close();
});

for (const [look, colorScheme, width, language] of [
  ['in light mode', 'light', 1280, 'en'],
  ['in dark mode', 'dark', 1280, 'de'],
  ['on a phone', 'light', 390, 'de'],
  ['on a phone in dark mode', 'dark', 390, 'en'],
  ['on a small phone', 'light', 320, 'fr'],
] as const)
  test(`all pages pass axe’s accessibility checks, ${look}`, { skip }, async () => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 720 } });
    const page = await context.newPage();
    const problems = collectMessages(page);
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
    login: 'Sign in',
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
    renderPage(frame, { page: 'frontchannel-logout', frames, continueAt, ways: [] }, { basePath: '' }),
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

test('no page in any language is wider than a phone, and its lang is that of its texts', {
  skip,
}, async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 720 } });
  const problems: string[] = [];
  for (const path of pages.keys()) {
    const [, locale = ''] = path.split('/');
    if (!PAGE_LOCALES.some((one) => one === locale)) continue;
    await page.goto(origin + path);
    const { lang, wider } = (await page.evaluate(
      '({ lang: document.documentElement.lang, wider: document.documentElement.scrollWidth - innerWidth })',
    )) as { lang: string; wider: number };
    if (lang !== locale) problems.push(`${path}: lang is ${lang}`);
    if (wider > 0) problems.push(`${path}: ${wider} px wider than the window`);
  }
  await page.close();
  assert.deepEqual(problems, []);
});

test('a button shows the password and hides it again before the form is sent', { skip }, async () => {
  const page = await browser.newPage();
  const problems = collectMessages(page);
  await page.goto(`${origin}/en/login`);
  await page.fill('#username', 'alice');
  await page.fill('#password', 'secret');
  const type = () => page.getAttribute('#password', 'type');
  await page.getByRole('button', { name: 'Show password' }).click();
  assert.equal(await type(), 'text');
  await page.getByRole('button', { name: 'Hide password' }).click();
  assert.equal(await type(), 'password');
  await page.getByRole('button', { name: 'Show password' }).click();
  // Scripts run after the page's own handler, which hides the password.
  await page.evaluate(
    "document.forms[0].addEventListener('submit', (event) => { event.preventDefault(); document.title = document.querySelector('#password').type })",
  );
  await page.click('#kc-login');
  assert.equal(await page.title(), 'password');
  assert.deepEqual(problems, []);
  await page.close();
});

test('shows times in the reader’s time zone, and in UTC without scripts', { skip }, async () => {
  const read = async (options: { javaScriptEnabled?: boolean }) => {
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', ...options });
    const page = await context.newPage();
    await page.goto(`${origin}/en/devices`);
    const text = await page.locator('time').first().innerText();
    const title = await page.locator('time').first().getAttribute('title');
    await context.close();
    return { text, title };
  };
  assert.deepEqual(await read({}), { text: 'Jan 15, 2027, 17:00 GMT+9', title: 'Jan 15, 2027, 08:00 UTC' });
  assert.deepEqual(await read({ javaScriptEnabled: false }), {
    text: 'Jan 15, 2027, 08:00 UTC',
    title: null,
  });
});

test('the menu of the account pages fits a phone: each entry is on one line, and none is hidden', {
  skip,
}, async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 720 } });
  for (const locale of PAGE_LOCALES) {
    await page.goto(`${origin}/${locale}/devices`);
    const entries = (await page.evaluate(
      "[...document.querySelectorAll('#kc-account-nav a, #kc-account-nav button')].map((one) => { const { left, right, height } = one.getBoundingClientRect(); return { text: one.innerText, left, right, height } })",
    )) as readonly { text: string; left: number; right: number; height: number }[];
    assert.equal(entries.length, 5, locale);
    for (const { text, left, right, height } of entries)
      assert.ok(
        left >= 0 && right <= 390 && height <= 48,
        `${locale} ${text}: ${left} to ${right}, ${height} high`,
      );
  }
  await page.close();
});
