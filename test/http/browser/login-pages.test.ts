import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { administrator } from '../administrator.ts';
import { collectMessages, launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { find, readElements } from '../pages/read-page.ts';
import { form, SECRETS, sendRaw, startTestService, type TestService } from '../service.ts';
import { CookieJar } from './cookie-jar.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

let service: TestService;
let client: RelyingParty;

before(async () => {
  service = await startTestService();
  client = await startRelyingParty(service);
});

after(async () => {
  client?.close();
  await service?.stop();
});

const authorization = () => `${service.address}/realms/master/protocol/openid-connect/auth`;
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const good = { username: SECRETS.IDKIT_ADMIN_USERNAME, password: SECRETS.IDKIT_ADMIN_PASSWORD };

/** Opens the login page and submits its form. */
async function sendLogin(jar: CookieJar, fields: Readonly<Record<string, string>>) {
  const page = await (await jar.fetch(client.authorizationUrl())).text();
  return jar.fetch(find(page, '#kc-form-login').attributes['action']!, form(fields));
}

test('serves the login page with GET, POST and HEAD, and forbids caching it', async () => {
  const url = new URL(client.authorizationUrl());
  const responses = [
    await fetch(url),
    await fetch(authorization(), form(Object.fromEntries(url.searchParams))),
    await fetch(url, { method: 'HEAD' }),
  ];
  for (const answer of responses) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store, must-revalidate, max-age=0');
    assert.equal(answer.headers.get('content-type'), 'text/html;charset=utf-8');
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN');
    assert.match(
      answer.headers.get('content-security-policy')!,
      /^default-src 'none'; style-src 'self'; img-src 'self'; script-src 'sha256-[^']+'; frame-ancestors 'self'; base-uri 'none'$/,
    );
  }
  const [byGet, byPost, byHead] = await Promise.all(responses.map((answer) => answer.text()));
  assert.ok(find(byGet!, '#kc-form-login') && find(byPost!, '#kc-form-login'));
  assert.equal(byHead, '');
});

test('responds to a correct login with a redirect and the cookies (docs/keycloak/pages.md#cookies)', async () => {
  const jar = new CookieJar();
  const answer = await sendLogin(jar, good);
  assert.equal(answer.status, 302);
  assert.match(answer.headers.get('location')!, /\/cb\?/);
  assert.match(answer.headers.get('content-security-policy')!, /^default-src 'none'/);
  const lines = answer.headers.getSetCookie();
  const line = (name: string) => lines.find((one) => one.startsWith(`${name}=`)) ?? '';
  assert.match(
    line('KEYCLOAK_IDENTITY'),
    /^KEYCLOAK_IDENTITY=[\w.-]+; Path=\/realms\/master\/; HttpOnly; Secure; SameSite=None$/,
  );
  assert.match(
    line('KEYCLOAK_SESSION'),
    /^KEYCLOAK_SESSION=[\w-]+; Path=\/realms\/master\/; Max-Age=36000; Secure; SameSite=None$/,
  );
});

test('a second cookie with the same name does not break a login (cookie tossing)', async () => {
  const jar = new CookieJar();
  const page = await (await jar.fetch(client.authorizationUrl())).text();
  const action = find(page, '#kc-form-login').attributes['action']!;
  const tossed = `AUTH_SESSION_ID=tossed; ${jar.header()}; AUTH_SESSION_ID=other`;
  const answer = await fetch(action, {
    ...form(good),
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: tossed },
    redirect: 'manual',
  });
  assert.equal(answer.status, 302);
});

test('rejects a malformed form with a page for browsers and with JSON for other callers', async () => {
  for (const query of ['client_id=%zz', 'client_id=%ff', '%=x']) {
    const page = await fetch(`${authorization()}?${query}`, { headers: html });
    assert.equal(page.status, 400, query);
    assert.match(page.headers.get('content-type')!, /^text\/html/, query);
    const json = await fetch(`${authorization()}?${query}`);
    assert.equal(json.status, 400, query);
  }
  assert.equal((await fetch(`${authorization()}?client_id=a%00b`, { headers: html })).status, 400);
  const posted = await fetch(authorization(), { ...form({}), body: 'client_id=%zz' });
  assert.equal(posted.status, 400);
  assert.match(await posted.text(), /%-escape/);
});

test('treats a body of another content type as an empty form, and rejects a body that is too large', async () => {
  const url = new URL(client.authorizationUrl());
  const other = await fetch(authorization(), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(url.searchParams)),
  });
  assert.equal(other.status, 400);
  const large = await fetch(authorization(), { ...form({}), body: `a=${'x'.repeat(1_100_000)}` });
  assert.equal(large.status, 413);
});

test('responds with 405 to unsupported methods, and with 501 to steps of a login that idkit does not have', async () => {
  assert.equal((await fetch(authorization(), { method: 'PUT' })).status, 405);
  const step = await fetch(`${service.address}/realms/master/login-actions/registration`);
  assert.equal(step.status, 501);
});

test('an error page loads the stylesheet of all pages, at every depth of the path', async () => {
  const answer = await fetch(`${service.address}/realms/nope/protocol/openid-connect/auth`, {
    headers: html,
  });
  assert.equal(answer.status, 404);
  const markup = await answer.text();
  assert.equal(find(markup, '#kc-page-title').text, 'We are sorry...');
  const { attributes } = readElements(markup).find(({ attributes: a }) => a['rel'] === 'stylesheet')!;
  const style = await fetch(new URL(attributes['href']!, answer.url));
  assert.equal(style.headers.get('content-type'), 'text/css;charset=utf-8');
});

test('an error outside a login is in the browser’s language, and leads to the account pages of the realm', async () => {
  const headers = { ...html, 'accept-language': 'pt, de;q=0.5' };
  const answer = await fetch(`${service.address}/realms/master/nothing/here`, { headers });
  assert.equal(answer.status, 404);
  const markup = await answer.text();
  assert.equal(readElements(markup)[0]!.attributes['lang'], 'pt-BR');
  assert.match(find(markup, '#kc-error-message').text, /^Esta página não existe\./);
  const account = new URL(find(markup, '#kc-to-account').attributes['href']!, answer.url);
  assert.equal(account.href, `${service.address}/realms/master/account/`);
  const unknown = await fetch(`${service.address}/realms/nowhere/x`, { headers: html });
  assert.equal(find(await unknown.text(), '#kc-retry').attributes['href'], '');
});

test('lets browsers cache the stylesheet forever, because its name contains a hash', async () => {
  const page = await (await fetch(client.authorizationUrl())).text();
  const { attributes } = readElements(page).find(({ attributes: a }) => a['rel'] === 'stylesheet')!;
  assert.match(attributes['href']!, /^\/resources\/pages-[0-9a-f]{16}\.css$/);
  const answer = await fetch(service.address + attributes['href']);
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal((await fetch(`${service.address}/resources/pages-0.css`)).status, 404);
});

test('serves a realm’s logo from config/logos, as an image that cannot run scripts', async (t) => {
  const logos = join(service.platform.dir, 'config', 'logos');
  mkdirSync(logos, { recursive: true });
  t.after(() => rmSync(logos, { recursive: true }));
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  writeFileSync(join(logos, 'master.svg'), logo);
  const page = await (await fetch(client.authorizationUrl())).text();
  const image = readElements(page).find(({ tag }) => tag === 'img')!;
  assert.equal(image.attributes['alt'], 'idkit');
  const answer = await fetch(service.address + image.attributes['src']);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'image/svg+xml');
  assert.match(answer.headers.get('content-security-policy')!, /^default-src 'none'; .*sandbox$/);
  assert.match(answer.headers.get('cache-control')!, /immutable/);
  const changed = await fetch(`${service.address}/resources/logos/master?v=old`);
  assert.equal(changed.headers.get('cache-control'), 'no-cache');
  for (const name of ['other', '..%2f..%2fidkit', '.env', '%2e%2e'])
    assert.notEqual((await fetch(`${service.address}/resources/logos/${name}`)).status, 200, name);
});

test('never serves a file outside config/ as a logo, through a link to a file or to a directory', async (t) => {
  const { dir } = service.platform;
  const logos = join(dir, 'config', 'logos');
  const outside = join(dir, 'private');
  mkdirSync(logos, { recursive: true });
  mkdirSync(outside);
  t.after(() => {
    for (const made of [logos, outside]) rmSync(made, { recursive: true });
  });
  writeFileSync(join(outside, 'acme.svg'), '<svg>secret</svg>');
  symlinkSync(join(outside, 'acme.svg'), join(logos, 'acme.svg'));
  symlinkSync(join(dir, '.env'), join(logos, 'master.svg'));
  for (const name of ['acme', 'master'])
    assert.equal((await fetch(`${service.address}/resources/logos/${name}`)).status, 404, name);
  rmSync(join(logos, 'master.svg'));
  symlinkSync('master.svg', join(logos, 'master.svg'));
  const page = await (await fetch(client.authorizationUrl())).text();
  assert.match(page, /kc-login/, 'a link to itself does not prevent a login');
  assert.equal(
    readElements(page).some(({ tag }) => tag === 'img'),
    false,
  );
  // A link inside config/ is followed: `config/` is backed up as a whole.
  writeFileSync(join(dir, 'config', 'shared.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  t.after(() => rmSync(join(dir, 'config', 'shared.svg')));
  symlinkSync('../shared.svg', join(logos, 'shared.svg'));
  assert.equal((await fetch(`${service.address}/resources/logos/shared`)).status, 200);
});

test('input with line breaks never becomes a header of the response (header injection)', async () => {
  const { host } = new URL(service.address);
  const path = '/realms/master/protocol/openid-connect/auth?state=a%0d%0aset-cookie:%20x=y';
  const answer = await sendRaw(
    service.address,
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  assert.doesNotMatch(answer.split('\r\n\r\n', 1)[0]!, /x=y/);
});

test('a real browser shows stored names on the pages as text (XSS)', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const attack = `"><img src=x onerror=alert(1)><script>alert(1)</script>`;
  const admin = await administrator(service);
  const before = await admin('GET', '/master');
  await admin('PUT', '/master', { ...before.json, displayName: attack, rememberMe: true });
  t.after(() => admin('PUT', '/master', before.json));
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const trouble = collectMessages(page);
  page.on('dialog', (dialog) => {
    trouble.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(client.authorizationUrl({ login_hint: attack, state: attack }));
  assert.match(await page.locator('#kc-header').innerText(), /onerror=alert/);
  assert.equal(await page.inputValue('#username'), attack);
  await page.fill('#password', 'wrong');
  await page.click('#kc-login');
  assert.equal(await page.innerText('#input-error'), 'Invalid username or password.');
  assert.equal(await page.inputValue('#username'), attack);
  assert.equal(await page.locator('img, script:not(body > script:last-child)').count(), 0);
  assert.deepEqual(trouble, []);
});

test('pages are in a language that both the realm and the browser support', async (t) => {
  const admin = await administrator(service);
  const before = await admin('GET', '/master');
  const german = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' };
  const title = async (init: RequestInit, parameters = {}) => {
    const markup = await (await fetch(client.authorizationUrl(parameters), init)).text();
    return `${readElements(markup)[0]!.attributes['lang']}: ${find(markup, '#kc-page-title').text}`;
  };
  assert.equal(await title({ headers: german }), 'en: Sign in to your account');
  await admin('PUT', '/master', {
    ...before.json,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
  });
  t.after(() => admin('PUT', '/master', before.json));
  assert.equal(await title({ headers: german }), 'de: Bei Ihrem Konto anmelden');
  assert.equal(await title({}, { ui_locales: 'fr de' }), 'de: Bei Ihrem Konto anmelden');
  assert.equal(await title({ headers: german }, { kc_locale: 'en' }), 'en: Sign in to your account');
  const jar = new CookieJar();
  const first = await (await jar.fetch(client.authorizationUrl())).text();
  const link = readElements(first).find(({ attributes }) => attributes['hreflang'] === 'de')!;
  const second = await jar.fetch(link.attributes['href']!);
  assert.match(await second.text(), /Bei Ihrem Konto anmelden/);
  assert.equal(jar.get('KEYCLOAK_LOCALE'), 'de');
});

test('a login with values of the maximum length succeeds, and the client receives them unchanged', async () => {
  const url = new URL(client.authorizationUrl());
  for (const state of ['x'.repeat(4000), 'ü'.repeat(3900), '漢'.repeat(2600)]) {
    const jar = new CookieJar();
    const fields = { ...Object.fromEntries(url.searchParams), state };
    const page = await (await jar.fetch(authorization(), form(fields))).text();
    const { action } = find(page, '#kc-form-login').attributes;
    assert.ok(action!.length < 10_000, `${action!.length} characters`);
    assert.equal((await jar.fetch(action!, form({ ...good, password: 'wrong' }))).status, 200);
    const again = find(await (await jar.fetch(authorization(), form(fields))).text(), '#kc-form-login');
    // Read the redirect from the raw response, because it contains the whole long state and `fetch` limits the length
    // of headers.
    const raw = await sendRaw(
      service.address,
      `POST ${new URL(again.attributes['action']!).href.slice(service.address.length)} HTTP/1.1\r\n` +
        `Host: x\r\nConnection: close\r\nCookie: ${jar.header()}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\n` +
        `Content-Length: ${new URLSearchParams(good).toString().length}\r\n\r\n${new URLSearchParams(good)}`,
    );
    const [, location] = /\r\nlocation: (\S+)/i.exec(raw) ?? [];
    assert.equal(new URL(location!).searchParams.get('state'), state);
  }
});

test('a double click on the login button submits the form once', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  let posts = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') posts += 1;
  });
  await page.goto(client.authorizationUrl());
  await page.fill('#username', good.username);
  await page.fill('#password', good.password);
  await page.dblclick('#kc-login', { delay: 10 });
  await page.waitForURL(`${client.redirectUri}?**`);
  assert.equal(posts, 1);
});

test('a form_post response reaches the client through a real browser with its state unchanged (Form Post §2)', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  const state = `(,]=[*>/?'~)<^%}" ä`;
  await page.goto(client.authorizationUrl({ response_mode: 'form_post', state }));
  await page.fill('#username', good.username);
  await page.fill('#password', good.password);
  await page.click('#kc-login');
  await page.waitForURL(client.redirectUri);
  const posted = client.requests.findLast(({ method }) => method === 'POST')!;
  const fields = new URLSearchParams(posted.body);
  assert.equal(posted.url.pathname, '/cb');
  assert.equal(fields.get('state'), state);
  assert.deepEqual([...fields.keys()].sort(), ['code', 'iss', 'session_state', 'state']);
  await page.goto(client.authorizationUrl({ response_mode: 'form_post', prompt: 'none', state: 'silent' }));
  await page.waitForURL(client.redirectUri);
  const silent = client.requests.findLast(({ method }) => method === 'POST')!;
  assert.equal(new URLSearchParams(silent.body).get('state'), 'silent');
});
