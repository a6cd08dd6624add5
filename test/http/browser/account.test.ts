import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { administrator, loginAs } from '../administrator.ts';
import { collectMessages, launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { find, readElements } from '../pages/read-page.ts';
import { form, startTestService, type TestService } from '../service.ts';
import { html, logInAt, passwordOf, person } from './acme.ts';
import { CookieJar } from './cookie-jar.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

const skip = missingBrowser();
const ATTACK = `"><img src=x onerror=alert(1)><script>alert(1)</script>`;

let service: TestService;
let client: RelyingParty;
let browser: Browser | undefined;

before(async () => {
  service = await startTestService();
  const admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    displayName: 'Acme Works',
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
    users: ['alice', 'bob', 'carol', 'dave'].map(person),
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  client = await startRelyingParty(service, {
    realm: 'acme',
    client: { name: 'Orders', directAccessGrantsEnabled: true },
  });
  if (skip === undefined) browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  client?.close();
  await service?.stop();
});

const account = (path = '') => `${service.address}/realms/acme/account/${path}`;
const DEVICES = 'account-security/device-activity';
const PASSWORD = 'account-security/signing-in';

/** Opens an account page, logs in and returns the page. */
async function enter(jar: CookieJar, username: string, path = ''): Promise<string> {
  return (await logInAt(service, jar, account(path), username)).text();
}

const stateOf = (markup: string) =>
  readElements(markup).find(({ attributes }) => attributes['name'] === 'stateChecker')!.attributes['value']!;

test('an account page has the headers of a login page, and is never cached', async () => {
  const jar = new CookieJar();
  await enter(jar, 'alice');
  for (const path of ['', PASSWORD, DEVICES, 'applications']) {
    const answer = await jar.fetch(account(path), { headers: html });
    assert.equal(answer.status, 200, path);
    assert.equal(answer.headers.get('cache-control'), 'no-store, must-revalidate, max-age=0');
    assert.equal(answer.headers.get('content-type'), 'text/html;charset=utf-8');
    assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN');
    assert.match(
      answer.headers.get('content-security-policy')!,
      /^default-src 'none'; style-src 'self'; img-src 'self'; (script-src 'sha256-[^']+'; )?frame-ancestors 'self'; base-uri 'none'$/,
    );
  }
  const withoutSlash = await jar.fetch(account().slice(0, -1), { headers: html });
  assert.equal(withoutSlash.status, 200);
  assert.equal((await jar.fetch(account('linked-accounts'), { headers: html })).status, 404);
});

test('an account form without the state checker of this login does not change anything (CSRF)', async () => {
  const [jar, other] = [new CookieJar(), new CookieJar()];
  await enter(jar, 'bob');
  const foreign = stateOf(await enter(other, 'carol'));
  for (const stateChecker of ['', foreign])
    for (const [path, fields] of [
      ['', { email: 'mallory@example.test' }],
      [DEVICES, { others: 'on' }],
    ] as const) {
      const answer = await jar.fetch(account(path), form({ ...fields, stateChecker }));
      assert.equal(answer.status, 400);
      assert.match(find(await answer.text(), '#input-error').text, /Nothing was changed/);
    }
  const body = JSON.stringify({ email: 'mallory@example.test' });
  const json = await jar.fetch(account(), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  assert.equal(json.status, 501, 'a page’s login is not a token of the API');
  const plain = await jar.fetch(account(), {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'email=mallory@example.test',
  });
  assert.equal(plain.status, 400);
  const profile = await (await jar.fetch(account(), { headers: html })).text();
  assert.equal(find(profile, 'email').attributes['value'], 'bob@example.test');
});

test('users manage their data, password, devices and applications without scripts', { skip }, async () => {
  const context = await browser!.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const problems = collectMessages(page);
  const feedback = () => page.innerText('.kc-feedback-text');
  await page.goto(account());
  await page.fill('#username', 'alice');
  await page.fill('#password', 'password-of-alice');
  await page.click('#kc-login');
  assert.equal(page.url(), account());

  await page.fill('#firstName', 'Ann');
  await page.fill('#email', 'ann@example.test');
  await page.click('#kc-submit');
  assert.equal(await feedback(), 'Your data has been saved.');
  assert.equal(await page.inputValue('#firstName'), 'Ann');

  const tokens = await loginAs(service, 'acme', {
    client_id: client.clientId,
    username: 'alice',
    password: 'password-of-alice',
    scope: 'offline_access',
  });
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  await page.click('text=Applications');
  assert.match(await page.innerText('#kc-account-applications'), /Orders[\s\S]*Offline access/);
  await page.getByRole('button', { name: 'Remove offline access: Orders' }).click();
  assert.equal(await feedback(), 'Access has been removed.');

  const other = await browser!.newContext();
  const elsewhere = await other.newPage();
  await logIn(elsewhere, 'alice');
  await page.click('text=Devices');
  assert.match(await page.innerText('#kc-account-sessions'), /Chrome \d+, Linux[\s\S]*This device/);
  await page.click('text=Sign out everywhere else');
  assert.equal(await feedback(), 'All other devices have been signed out.');
  assert.equal(await page.locator('#kc-account-sessions > li').count(), 1);
  await elsewhere.goto(account());
  assert.equal(await elsewhere.locator('#kc-form-login').count(), 1);
  await other.close();

  await page.getByRole('link', { name: 'Password' }).click();
  await page.fill('#password', 'wrong');
  await page.fill('#password-new', 'new-password');
  await page.fill('#password-confirm', 'new-password');
  await page.click('#kc-submit');
  assert.equal(await feedback(), 'Your current password is incorrect.');
  await page.fill('#password', 'password-of-alice');
  await page.fill('#password-new', 'new-password');
  await page.fill('#password-confirm', 'new-password');
  await page.click('#kc-submit');
  assert.match(await feedback(), /^Your password has been changed/);

  await page.click('#kc-account-logout button');
  assert.equal(await page.innerText('#kc-page-title'), 'You are signed out');
  await page.click('#kc-sign-in');
  await page.fill('#username', 'alice');
  await page.fill('#password', 'new-password');
  await page.click('#kc-login');
  assert.equal(page.url(), account());
  assert.deepEqual(problems, []);
  await context.close();
});

test('rejects an e-mail address that is another user’s name, because it would lock that user out', async () => {
  const admin = await administrator(service);
  const boss = { ...person('boss@acme.test'), email: 'elsewhere@acme.test' };
  assert.equal((await admin('POST', '/acme/users', boss)).status, 201);
  const jar = new CookieJar();
  const stateChecker = stateOf(await enter(jar, 'dave'));
  const sent = { stateChecker, firstName: 'Given', lastName: 'Family', email: 'Boss@acme.test' };
  const answer = await jar.fetch(account(), form(sent));
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /This email address is in use/);
  const login = { username: boss.username, password: passwordOf(boss.username), client_id: client.clientId };
  assert.equal((await loginAs(service, 'acme', login)).status, 200);
});

test('shows the pages in German, with links that change the language', { skip }, async () => {
  const context = await browser!.newContext({ javaScriptEnabled: false, locale: 'de-DE' });
  const page = await context.newPage();
  await logIn(page, 'carol');
  assert.equal(await page.innerText('#kc-page-title'), 'Persönliche Daten');
  await page.click('text=Geräte');
  assert.match(await page.innerText('#kc-account-sessions'), /Dieses Gerät[\s\S]*Angemeldet:[\s\S]* UTC/);
  await page.click('#kc-locale >> text=English');
  assert.equal(await page.innerText('#kc-page-title'), 'Devices');
  await page.click('text=Personal data');
  assert.equal(await page.innerText('#kc-page-title'), 'Personal data');
  await context.close();
});

test('a real browser shows stored names on the account pages as text (XSS)', { skip }, async (t) => {
  const admin = await administrator(service);
  const realm = await admin('GET', '/acme');
  const [stored] = (await admin('GET', `/acme/clients?clientId=${client.clientId}`)).json;
  await admin('PUT', '/acme', { ...realm.json, displayName: ATTACK });
  await admin('PUT', `/acme/clients/${stored.id}`, { ...stored, name: ATTACK, description: ATTACK });
  t.after(async () => {
    await admin('PUT', '/acme', realm.json);
    await admin('PUT', `/acme/clients/${stored.id}`, stored);
  });
  const fields = { client_id: client.clientId, username: 'dave', password: 'password-of-dave' };
  assert.equal((await loginAs(service, 'acme', fields)).status, 200);
  const context = await browser!.newContext({ userAgent: `Firefox/12 (Linux) ${ATTACK}` });
  const page = await context.newPage();
  const trouble = collectMessages(page);
  page.on('dialog', (dialog) => {
    trouble.push(dialog.message());
    void dialog.dismiss();
  });
  await logIn(page, 'dave');
  await page.fill('#firstName', ATTACK);
  await page.click('#kc-submit');
  assert.equal(await page.inputValue('#firstName'), ATTACK, 'is rejected and shown again as text');
  for (const path of [DEVICES, 'applications', `?done=${encodeURIComponent(ATTACK)}&kc_locale=${ATTACK}`]) {
    await page.goto(account(path));
    assert.match(await page.innerText('#kc-header'), /onerror=alert/);
    const added = 'img, script:not(body > script:last-child), a[href^="javascript"]';
    assert.equal(await page.locator(added).count(), 0, path);
  }
  await page.goto(account('applications'));
  assert.match(await page.innerText('#kc-account-applications'), /onerror=alert/);
  assert.deepEqual(trouble, []);
  await context.close();
});

test('returns the account as JSON for a token, and pages of the client’s origin may read it (loadUserProfile)', async () => {
  const fields = { client_id: client.clientId, username: 'bob', password: 'password-of-bob' };
  const { body } = await loginAs(service, 'acme', fields);
  const headers = { authorization: `Bearer ${body['access_token']}`, accept: 'application/json' };
  const answer = await fetch(account(), { headers: { ...headers, origin: client.origin } });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type')!, /^application\/json/);
  assert.equal(answer.headers.get('cache-control'), 'no-cache, no-store');
  assert.equal(answer.headers.get('access-control-allow-origin'), client.origin);
  const profile = (await answer.json()) as Record<string, unknown>;
  assert.equal(profile['username'], 'bob');
  assert.equal(profile['email'], 'bob@example.test');
  assert.equal(profile['emailVerified'], true);
  const plain = await fetch(`${account()}?userProfileMetadata=false`, {
    headers: { authorization: headers.authorization },
  });
  assert.ok(!('userProfileMetadata' in ((await plain.json()) as object)));

  const foreign = await fetch(account(), { headers: { ...headers, origin: 'https://evil.example' } });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
  const none = await fetch(account(), { headers: { accept: 'application/json' } });
  assert.equal(none.status, 401);
  assert.deepEqual(await none.json(), { error: 'HTTP 401 Unauthorized' });
  assert.match(none.headers.get('www-authenticate')!, /^Bearer/);
  const jar = new CookieJar();
  await enter(jar, 'bob');
  assert.equal((await jar.fetch(account(), { headers: { accept: 'application/json' } })).status, 401);
  assert.equal((await fetch(account('credentials'), { headers })).status, 501);
});

test('a page of an allowed origin reads the profile in a real browser', { skip }, async () => {
  const context = await browser!.newContext();
  const page = await context.newPage();
  await page.goto(client.redirectUri);
  const fields = { client_id: client.clientId, username: 'bob', password: 'password-of-bob' };
  const { body } = await loginAs(service, 'acme', fields);
  const username = await page.evaluate(
    `fetch(${JSON.stringify(account())}, { headers: { Accept: 'application/json', Authorization: ${JSON.stringify(`bearer ${body['access_token']}`)} } }).then((answer) => answer.json()).then(({ username }) => username)`,
  );
  assert.equal(username, 'bob');
  await context.close();
});

async function logIn(page: Page, username: string): Promise<void> {
  await page.goto(account());
  await page.fill('#username', username);
  await page.fill('#password', `password-of-${username}`);
  await page.click('#kc-login');
  await page.waitForSelector('#kc-account-nav');
}
