import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openLog } from '../../../src/service/index.ts';
import { type AdminApi, administrator } from '../administrator.ts';
import { launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { find, readElements } from '../pages/read-page.ts';
import { form, sendRaw, startTestService, type TestService } from '../service.ts';
import { html, logInAt, openPage, person } from './acme.ts';
import { CookieJar } from './cookie-jar.ts';
import { type HostilePage, selfSending, startHostilePage } from './hostile-page.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

const skip = missingBrowser();
const EVIL = 'https://evil.example.test';

let service: TestService;
let client: RelyingParty;
let hostile: HostilePage;
let browser: Browser | undefined;
let admin: AdminApi;

before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
    users: ['alice', 'mallory'].map(person),
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  client = await startRelyingParty(service, {
    realm: 'acme',
    client: { consentRequired: true },
  });
  hostile = await startHostilePage();
  if (skip === undefined) browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  hostile?.close();
  client?.close();
  await service?.stop();
});

const at = (path: string) => `${service.address}/realms/acme/${path}`;
const account = (path = '') => at(`account/${path}`);
const oidc = (path: string) => at(`protocol/openid-connect/${path}`);
const ACCOUNT_PAGES = ['', 'account-security/signing-in', 'account-security/device-activity', 'applications'];

/** Returns the action of a page's only form. */
async function actionOf(answer: Response): Promise<string> {
  const forms = readElements(await answer.text()).filter(({ tag }) => tag === 'form');
  assert.equal(forms.length, 1);
  return forms[0]!.attributes['action']!;
}

const open = (jar: CookieJar, url: string) => openPage(service, jar, url);
const logIn = (jar: CookieJar, username: string) => logInAt(service, jar, account(), username);

test('no endpoint redirects to a URL that is not registered (open redirect)', async () => {
  const jar = new CookieJar();
  await logIn(jar, 'alice');
  const data = Buffer.from(JSON.stringify({ ru: EVIL, rt: 'code', st: 'x' })).toString('base64url');
  const { host } = new URL(EVIL);
  const targets = [EVIL, `//${host}`, `/\\${host}`, `${client.redirectUri}@${host}`, `javascript:alert(1)//`];
  const urls = [
    ...targets.flatMap((to) => [
      client.authorizationUrl({ redirect_uri: to }),
      client.authorizationUrl({ redirect_uri: to, prompt: 'none', response_mode: 'form_post' }),
      client.authorizationUrl({ kc_locale: to, ui_locales: to }),
      `${oidc('logout')}?${new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: to })}`,
      `${oidc('logout')}?${new URLSearchParams({ redirect_uri: to, initiating_idp: to })}`,
      `${account()}?${new URLSearchParams({ redirect_uri: to, referrer: 'web', referrer_uri: to, kc_locale: to })}`,
      `${service.address}/admin/master/console?${new URLSearchParams({ redirect_uri: to })}`,
    ]),
    ...['authenticate', 'required-action', 'restart'].map((step) =>
      at(`login-actions/${step}?client_id=web&tab_id=x&client_data=${data}`),
    ),
    `${service.address}//${host}/admin/master/console`,
    `${service.address}/admin//${host}/console`,
    `${service.address}/realms/acme/account//${host}`,
    `${service.address}/admin/master/console?x=//${host}`,
  ];
  const mayLeadTo = [service.address, client.origin];
  for (const url of urls) {
    const answer = await jar.fetch(url, { headers: html });
    assert.ok(answer.status < 500, url);
    const location = answer.headers.get('location');
    if (location !== null) {
      assert.ok(mayLeadTo.includes(new URL(location, url).origin), `${url} leads to ${location}`);
      continue;
    }
    for (const { tag, attributes } of readElements(await answer.text()))
      for (const name of ['href', 'action', 'src'])
        if (attributes[name] !== undefined)
          assert.ok(mayLeadTo.includes(new URL(attributes[name], url).origin), `${url}: ${tag} ${name}`);
  }
  for (const path of ['/admin', '/admin/master/console', '/realms/acme/account/', '/']) {
    const raw = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nx-forwarded-host: ${host}\r\nconnection: close\r\n\r\n`;
    assert.ok(!(await sendRaw(service.address, raw)).includes(host), `${path} by another Host`);
  }
});

test('pages of other origins may frame only pages without controls (clickjacking)', async () => {
  const jar = new CookieJar();
  const login = await jar.fetch(client.authorizationUrl(), { headers: html });
  const action = await actionOf(login.clone() as Response);
  const consent = await open(
    jar,
    (await jar.fetch(action, form({ username: 'alice', password: 'password-of-alice' }))).headers.get(
      'location',
    )!,
  );
  assert.match(await consent.clone().text(), /kc-oauth/);
  const other = new CookieJar();
  await logIn(other, 'alice');
  const pages = [
    login,
    consent,
    await jar.fetch(action.replace('session_code=', 'session_code=x'), form({})),
    await fetch(client.authorizationUrl({ redirect_uri: EVIL }), { headers: html }),
    await fetch(client.authorizationUrl({ prompt: 'none', response_mode: 'form_post' }), { headers: html }),
    await other.fetch(oidc('logout'), { headers: html }),
    ...(await Promise.all(ACCOUNT_PAGES.map((path) => other.fetch(account(path), { headers: html })))),
    await fetch(at('nothing/here'), { headers: html }),
    await fetch(`${service.address}/admin/master/console/`, { headers: html }),
  ];
  for (const answer of pages) {
    assert.match(answer.headers.get('content-type')!, /^text\/html/, answer.url);
    assert.match(answer.headers.get('content-security-policy')!, /frame-ancestors 'self'/, answer.url);
    assert.equal(answer.headers.get('x-frame-options'), 'SAMEORIGIN', answer.url);
  }
  for (const path of ['login-status-iframe.html', '3p-cookies/step1.html', '3p-cookies/step2.html']) {
    const markup = await (await fetch(oidc(path))).text();
    const tags = readElements(markup).map(({ tag }) => tag);
    assert.deepEqual([...new Set(tags)].sort(), ['body', 'head', 'html', 'meta', 'script', 'title'], path);
  }
});

test('NUL characters, invalid UTF-8, long values and many values never cause an internal error', async () => {
  const jar = new CookieJar();
  await logIn(jar, 'alice');
  const forms = [
    ...['auth', 'logout', 'logout/logout-confirm', 'token', 'revoke', 'token/introspect'].map(oidc),
    ...['authenticate', 'required-action', 'consent'].map((step) => at(`login-actions/${step}`)),
    ...ACCOUNT_PAGES.map(account),
  ];
  const pages = [
    ...['auth', 'logout', 'login-status-iframe.html/init'].map(oidc),
    ...['authenticate', 'required-action', 'restart'].map((step) => at(`login-actions/${step}`)),
    ...ACCOUNT_PAGES.map(account),
  ];
  const usual = new URL(client.authorizationUrl()).searchParams.toString();
  const odd = ['a=%00', '%00=a', 'a=%ff', 'a=%c0%af', 'a=%zz', '=&&=', 'client_id=web&client_id=web'];
  const names = [
    'client_id',
    'state',
    'claims',
    'request',
    'id_token_hint',
    'tab_id',
    'client_data',
    'kc_locale',
  ];
  const queries = [...odd, ...names.map((name) => `${usual}&${name}=${'x'.repeat(9000)}`)];
  for (const url of pages)
    for (const query of queries) {
      const answer = await jar.fetch(`${url}?${query}`, { headers: html });
      assert.ok(answer.status < 500, `GET ${url}?${query.slice(0, 60)}: ${answer.status}`);
      await answer.body?.cancel();
    }
  const many = Array.from({ length: 50_000 }, (_, n) => `p${n}=1`).join('&');
  const bodies = [...queries, `${usual}&state=${'x'.repeat(500_000)}`, many, '\0\xff', 'otp=1&otp=2'];
  for (const url of forms)
    for (const body of bodies) {
      const answer = await jar.fetch(url, { ...form({}), body });
      assert.ok(answer.status < 500, `POST ${url} ${body.slice(0, 60)}: ${answer.status}`);
      await answer.body?.cancel();
    }
  for (const url of forms) {
    const answer = await jar.fetch(url, { ...form({}), body: 'x'.repeat(1_100_000) });
    assert.equal(answer.status, 413, url);
    await answer.body?.cancel();
  }
  for (const cookie of [
    `KEYCLOAK_IDENTITY=${'x'.repeat(12_000)}`,
    'a'.repeat(9000),
    '=;=;;;',
    '\u00ff=\u00ff',
  ])
    assert.ok((await fetch(client.authorizationUrl(), { headers: { cookie } })).status < 500);
  assert.ok(
    (await fetch(client.authorizationUrl(), { headers: { cookie: 'x'.repeat(40_000) } })).status === 431,
  );
  assert.doesNotMatch(service.logText(), /"level":"error"/);
});

test('a name with line breaks never starts a new line in the log (log and header injection)', async () => {
  const evil = 'eve\r\n{"level":"info","msg":"LOGIN"}\r\nSet-Cookie: a=b\u001b[2J\u2028\u0085';
  const start = service.log.length;
  const jar = new CookieJar();
  const action = await actionOf(
    await jar.fetch(client.authorizationUrl({ login_hint: evil, state: evil, ui_locales: evil }), {
      headers: { 'user-agent': 'x\tFirefox/1\t', 'accept-language': 'de\tx' },
    }),
  );
  const answers = [
    await jar.fetch(action, form({ username: evil, password: evil })),
    await fetch(client.authorizationUrl({ client_id: evil })),
    await fetch(client.authorizationUrl({ redirect_uri: evil })),
    await fetch(client.authorizationUrl({ scope: evil, state: evil }), { redirect: 'manual' }),
    await fetch(oidc('token'), form({ grant_type: evil, client_id: evil, username: evil })),
  ];
  for (const answer of answers)
    for (const [name, value] of answer.headers) {
      assert.doesNotMatch(value, /[^\x20-\x7e]/, name);
      assert.doesNotMatch(value, /(?:^|[^\w-])a=b/, name);
    }
  const written: string[] = [];
  const log = await openLog({ write: (text) => written.push(text) });
  const lines = service.log.slice(start);
  assert.ok(lines.some(({ fields }) => JSON.stringify(fields).includes('eve')));
  for (const { level, fields, message } of lines) log[level](fields, message);
  assert.equal(written.length, lines.length);
  for (const line of written) assert.match(line, /^\{[^\r\n]*\}\n$/);
});

test('rejects every form that a page of another origin sends (CSRF)', { skip }, async () => {
  const context = await browser!.newContext();
  const page = await context.newPage();
  await page.goto(account());
  await page.fill('#username', 'alice');
  await page.fill('#password', 'password-of-alice');
  await page.click('#kc-login');
  await page.waitForSelector('#kc-account-nav');
  const [alice] = (await admin('GET', '/acme/users?username=alice&exact=true')).json;
  // The attacker knows the forms of their own login and logout, and their own state checker.
  const jar = new CookieJar();
  await logIn(jar, 'mallory');
  const checker = readElements(await (await open(jar, account())).text()).find(
    ({ attributes }) => attributes['name'] === 'stateChecker',
  )!.attributes['value']!;
  const logout = find(await (await new CookieJar().fetch(oidc('logout'))).text(), '#kc-logout-form');
  const login = await actionOf(await new CookieJar().fetch(client.authorizationUrl()));
  const [profile, password, devices, applications] = ACCOUNT_PAGES.map(account);
  const steal = { email: 'mallory@evil.example.test', firstName: 'M', lastName: 'M', stateChecker: checker };
  const forms: [action: string, fields: Record<string, string>][] = [
    [profile!, steal],
    [password!, { password: 'x', 'password-new': 'y', 'password-confirm': 'y', stateChecker: checker }],
    [devices!, { others: 'on', stateChecker: checker }],
    [applications!, { client: 'x', stateChecker: checker }],
    [oidc('logout'), {}],
    [oidc('logout'), { client_id: 'web', post_logout_redirect_uri: client.redirectUri }],
    [logout.attributes['action']!, { confirmLogout: 'Logout' }],
    [login, { username: 'mallory', password: 'password-of-mallory' }],
    [login.replace('authenticate', 'required-action'), { accept: 'Yes' }],
    [login.replace('authenticate', 'consent'), { accept: 'Yes' }],
  ];
  for (const from of [hostile.sameSite, hostile.crossSite])
    for (const [action, fields] of forms) {
      hostile.serve(selfSending(action, fields));
      await page.goto(from);
      await page.waitForURL((url) => url.origin === service.address);
    }
  const [now] = (await admin('GET', '/acme/users?username=alice&exact=true')).json;
  assert.deepEqual(now, alice);
  assert.equal((await admin('GET', `/acme/users/${alice.id}/consents`)).json.length, 0);
  await page.goto(account());
  assert.equal(await page.innerText('#kc-account-username'), 'alice', 'is still logged in as the same user');
  await context.close();
});

test('a page of another origin cannot log a user in to another account (login CSRF)', { skip }, async () => {
  const jar = new CookieJar();
  const action = await actionOf(await open(jar, account()));
  for (const from of [hostile.sameSite, hostile.crossSite]) {
    const context = await browser!.newContext();
    const page = await context.newPage();
    // Only in the first case does the victim have a login in progress.
    if (from === hostile.sameSite) await page.goto(account());
    hostile.serve(selfSending(action, { username: 'mallory', password: 'password-of-mallory' }));
    await page.goto(from);
    await page.waitForURL((url) => url.origin === service.address);
    await page.goto(account());
    assert.equal(await page.locator('#kc-form-login').count(), 1);
    assert.ok((await context.cookies()).every(({ name }) => name !== 'KEYCLOAK_IDENTITY'));
    await context.close();
  }
});

test('a browser does not show pages of the service in a frame of another origin (clickjacking)', {
  skip,
}, async () => {
  const context = await browser!.newContext();
  const page = await context.newPage();
  const urls = [
    client.authorizationUrl(),
    oidc('logout'),
    account(),
    `${service.address}/admin/master/console/`,
    client.authorizationUrl({ redirect_uri: EVIL }),
    oidc('login-status-iframe.html'),
  ];
  hostile.serve(urls.map((url) => `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`).join(''));
  await page.goto(hostile.sameSite);
  const shown = page
    .frames()
    .slice(1)
    .map((frame) => frame.url());
  assert.equal(shown.length, urls.length);
  assert.deepEqual(
    shown.filter((url) => url.startsWith(service.address)),
    [oidc('login-status-iframe.html')],
  );
  await context.close();
});
