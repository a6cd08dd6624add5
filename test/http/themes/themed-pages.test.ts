import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { administrator } from '../administrator.ts';
import { html, logInAt, person } from '../browser/acme.ts';
import { CookieJar } from '../browser/cookie-jar.ts';
import { type RelyingParty, startRelyingParty } from '../browser/relying-party.ts';
import { collectMessages, launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { findViolations } from '../pages/find-violations.ts';
import { find, readElements } from '../pages/read-page.ts';
import { SECRETS, startTestService, type TestService } from '../service.ts';

const skip = missingBrowser();
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 30"><script>alert(1)</script><rect width="120" height="30" rx="6" fill="#a4123f"/></svg>';
const THEME = `
colors:
  light: { accent: "#a4123f", background: "#faf7f2" }
texts:
  en: { loginAccountTitle: Welcome to Acme }
footer:
  - { url: "https://acme.example/privacy", text: { en: Privacy, de: Datenschutz } }
`;

let service: TestService;
let client: RelyingParty;
let themes: string;

before(async () => {
  service = await startTestService();
  themes = join(service.platform.dir, 'config', 'themes');
  mkdirSync(join(themes, 'acme'), { recursive: true });
  writeFileSync(join(themes, 'acme', 'theme.yaml'), THEME);
  writeFileSync(join(themes, 'acme', 'logo.svg'), SVG);
  const admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    displayName: 'Acme Works',
    loginTheme: 'acme',
    users: [person('alice')],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  client = await startRelyingParty(service, { realm: 'acme' });
});

after(async () => {
  client?.close();
  await service?.stop();
});

const preview = (path = '', realm = 'master') =>
  `${service.address}/realms/${realm}/theme-preview/acme/acme${path}`;

test('the pages of a realm show its theme: logo, colours, texts and links', async () => {
  const markup = await (await fetch(client.authorizationUrl(), { headers: html })).text();
  assert.equal(find(markup, '#kc-page-title').text, 'Welcome to Acme');
  const elements = readElements(markup);
  const link = elements.find(({ attributes }) => attributes['href'] === 'https://acme.example/privacy')!;
  assert.equal(link.text, 'Privacy');
  const style = elements.filter(({ attributes }) => attributes['rel'] === 'stylesheet')[1]!.attributes[
    'href'
  ]!;
  const css = await fetch(service.address + style);
  assert.equal(css.headers.get('content-type'), 'text/css;charset=utf-8');
  assert.equal(css.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.match(await css.text(), /--accent:#a4123f/);
  const image = elements.find(({ tag }) => tag === 'img')!;
  assert.equal(image.attributes['alt'], 'Acme Works');
  const logo = await fetch(service.address + image.attributes['src']);
  assert.equal(logo.headers.get('content-type'), 'image/svg+xml');
  assert.match(logo.headers.get('content-security-policy')!, /^default-src 'none'; .*sandbox$/);
  assert.equal(logo.headers.get('x-content-type-options'), 'nosniff');
  for (const path of ['acme/theme.yaml', 'acme/x', 'other/logo', '..%2facme/logo', '%2e%2e/logo'])
    assert.notEqual((await fetch(`${service.address}/resources/themes/${path}`)).status, 200, path);
});

test('the account pages have the theme of the login pages, unless the realm has another one for them', async (t) => {
  const jar = new CookieJar();
  const account = `${service.address}/realms/acme/account/`;
  const first = await (await logInAt(service, jar, account, 'alice')).text();
  assert.ok(first.includes('https://acme.example/privacy'));
  const admin = await administrator(service);
  const { json } = await admin('GET', '/acme');
  t.after(() => admin('PUT', '/acme', { ...json, accountTheme: '' }));
  await admin('PUT', '/acme', { ...json, accountTheme: 'nothing-here' });
  const second = await jar.fetch(account, { headers: html });
  assert.equal(second.status, 200);
  assert.ok(!(await second.text()).includes('https://acme.example/privacy'));
});

test('a theme with an error does not prevent a login: the pages have idkit’s look', async (t) => {
  t.after(() => writeFileSync(join(themes, 'acme', 'theme.yaml'), THEME));
  writeFileSync(join(themes, 'acme', 'theme.yaml'), 'colors: [');
  const answer = await fetch(client.authorizationUrl(), { headers: html });
  assert.equal(answer.status, 200);
  assert.equal(find(await answer.text(), '#kc-page-title').text, 'Sign in to your account');
});

test('only an administrator of the realm sees the preview', async () => {
  const stranger = await fetch(preview(), { headers: html });
  assert.equal(stranger.status, 403);
  const way = readElements(await stranger.text()).find(
    ({ attributes }) => attributes['id'] === 'kc-sign-in',
  )!;
  assert.equal(way.attributes['href'], `${service.address}/admin/master/console/`);
  const user = new CookieJar();
  await logInAt(service, user, `${service.address}/realms/acme/account/`, 'alice');
  for (const url of [preview('', 'acme'), preview('/login', 'acme'), preview('/login')])
    assert.equal((await user.fetch(url, { headers: html })).status, 403, url);
  const unknown = `${service.address}/realms/master/theme-preview/nowhere/acme`;
  assert.equal((await user.fetch(unknown, { headers: html })).status, 403);
});

test('the administrative API lists the themes with their problems to those who may view the realm', async (t) => {
  const broken = join(themes, 'broken');
  mkdirSync(broken);
  t.after(() => rmSync(broken, { recursive: true }));
  writeFileSync(join(broken, 'theme.yaml'), 'colour: {}');
  const admin = await administrator(service);
  const { status, json } = await admin('GET', '/acme/themes');
  assert.equal(status, 200);
  assert.deepEqual(json, [
    {
      name: 'acme',
      usable: true,
      problems: ['config/themes/acme/logo.svg: contains a script, which browsers do not run in an image'],
    },
    {
      name: 'broken',
      usable: false,
      problems: ['config/themes/broken/theme.yaml line 1: unknown key "colour" (did you mean colors?)'],
    },
  ]);
  const anyone = await fetch(`${service.address}/admin/realms/acme/themes`);
  assert.equal(anyone.status, 401);
});

test('the preview shows every page with the theme, in every language, and no form can be sent', {
  skip,
}, async (t) => {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 390, height: 720 } });
  const messages = collectMessages(page);
  const problems: string[] = [];
  await page.goto(`${service.address}/realms/master/account/`);
  await page.fill('#username', SECRETS.IDKIT_ADMIN_USERNAME);
  await page.fill('#password', SECRETS.IDKIT_ADMIN_PASSWORD);
  await page.click('#kc-login');
  await page.waitForURL('**/account/');
  await page.goto(preview());
  assert.match(await page.innerText('h1'), /^Preview of the theme acme$/);
  assert.match(await page.innerText('.alert'), /logo\.svg: contains a script/);
  const links = await page.evaluate("[...document.querySelectorAll('.list a')].map((one) => one.href)");
  assert.ok((links as string[]).length > 10);
  for (const link of links as string[]) {
    const answer = await page.goto(link);
    assert.equal(answer?.status(), 200, link);
    assert.match(answer!.headers()['content-security-policy']!, /; form-action 'none'$/, link);
    assert.match(await page.innerText('.preview'), /^Preview of the theme acme/, link);
    for (const violation of await findViolations(page)) problems.push(`${link}: ${violation}`);
  }
  await page.goto(preview('/login?kc_locale=ja'));
  assert.equal(await page.getAttribute('html', 'lang'), 'ja');
  await page.fill('#username', 'alice');
  await page.fill('#password', 'secret');
  const prevented = page.waitForEvent('console', (message) => message.text().includes('form-action'));
  // A click of Playwright would wait for the navigation that the policy prevents.
  await page.evaluate("document.querySelector('#kc-login').click()");
  await prevented;
  assert.ok(page.url().includes('/theme-preview/acme/acme/login'), page.url());
  problems.push(...messages.filter((message) => !message.includes('form-action')));
  assert.deepEqual(problems, []);
  assert.equal((await page.goto(preview('/nothing')))?.status(), 404);
});
