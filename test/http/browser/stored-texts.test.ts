import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administrator } from '../administrator.ts';
import { launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { SECRETS, startTestService } from '../service.ts';
import { startRelyingParty } from './relying-party.ts';

const ACCOUNT_PAGES = ['', 'account-security/signing-in', 'account-security/device-activity', 'applications'];
const EVIL = 'https://evil.example.test';

test('no stored text runs as a script on the consent page, on the account pages, after a logout or in the console (XSS)', {
  skip: missingBrowser(),
}, async (t) => {
  const service = await startTestService();
  t.after(() => service.stop());
  const admin = await administrator(service);
  const client = await startRelyingParty(service);
  t.after(() => client.close());
  const ATTACK = `"><img src=x onerror=alert(1)><script>alert(1)</script>'{{7*7}}`;
  const URL_ATTACK = 'javascript:alert(1)';
  const name = `${ATTACK} \${username}`;
  const texts = { doLogIn: ATTACK, logoutConfirmTitle: ATTACK, loginAccountTitle: ATTACK };
  const made = await admin('POST', '', {
    realm: 'hostile',
    enabled: true,
    displayName: ATTACK,
    displayNameHtml: ATTACK,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
    localizationTexts: { en: texts },
    roles: { realm: [{ name: ATTACK, description: ATTACK }] },
    clients: [
      {
        clientId: URL_ATTACK,
        name,
        description: ATTACK,
        publicClient: true,
        consentRequired: true,
        redirectUris: [client.redirectUri],
        attributes: { logoUri: URL_ATTACK, policyUri: URL_ATTACK, tosUri: URL_ATTACK },
        protocolMappers: [],
        defaultClientScopes: ['attack'],
      },
    ],
    clientScopes: [
      {
        name: 'attack',
        protocol: 'openid-connect',
        attributes: { 'display.on.consent.screen': 'true', 'consent.screen.text': ATTACK },
      },
    ],
    users: [
      {
        username: '<img src=x onerror=alert(1)>',
        enabled: true,
        email: 'eve@example.test',
        firstName: ATTACK,
        lastName: ATTACK,
        credentials: [{ type: 'password', value: 'pw', userLabel: ATTACK }],
      },
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const [stored] = (await admin('GET', `/hostile/clients?clientId=${URL_ATTACK}`)).json;
  for (const role of [ATTACK, '..'])
    assert.equal((await admin('POST', `/hostile/clients/${stored.id}/roles`, { name: role })).status, 201);

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const trouble: string[] = [];
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  page.on('dialog', (dialog) => {
    trouble.push(dialog.message());
    void dialog.dismiss();
  });
  const isPlain = async (where: string) => {
    assert.equal(await page.locator('img[onerror], img[src="x"]').count(), 0, where);
    assert.equal(await page.locator('[href^="javascript" i], [src^="javascript" i]').count(), 0, where);
    // A page has at most one inline script, which is the same for all stored texts.
    const inline = await page.evaluate(
      '[...document.scripts].filter((one) => one.src === "").map((one) => one.text).filter((text) => !text.startsWith("(function(){var page=document;"))',
    );
    assert.deepEqual(inline, [], where);
  };
  const url = client.authorizationUrl({ client_id: URL_ATTACK }).replace('/master/', '/hostile/');
  await page.goto(url);
  await isPlain('login');
  await page.fill('#username', 'eve@example.test');
  await page.fill('#password', 'pw');
  await page.click('#kc-login');
  await page.waitForSelector('[name=accept]');
  assert.match(await page.innerText('body'), /onerror=alert/);
  await isPlain('consent');
  await page.click('[name=accept]');
  await page.waitForURL((to) => to.href.startsWith(client.origin));
  const hostileRealm = `${service.address}/realms/hostile`;
  for (const path of ACCOUNT_PAGES) {
    await page.goto(`${hostileRealm}/account/${path}`);
    await isPlain(`account ${path}`);
  }
  await page.goto(`${hostileRealm}/protocol/openid-connect/logout?client_id=${URL_ATTACK}`);
  await isPlain('logout');
  await page.click('#kc-logout');
  await isPlain('logged out');
  await page.goto(`${url}&prompt=none&response_type=x&redirect_uri=${EVIL}`);
  await isPlain('error');

  const place = `${service.address}/admin/master/console/`;
  await page.goto(place);
  await page.fill('#username', SECRETS.IDKIT_ADMIN_USERNAME);
  await page.fill('#password', SECRETS.IDKIT_ADMIN_PASSWORD);
  await page.click('#kc-login');
  await page.getByRole('heading', { name: 'Realms' }).waitFor();
  await isPlain('realms');
  const [user] = (await admin('GET', '/hostile/users')).json;
  const screens: [path: string, shows: string][] = [
    ['users', '<img src=x onerror=alert(1)>'],
    [`users/${user.id}`, '<img src=x onerror=alert(1)>'],
    ['clients', URL_ATTACK],
    [`clients/${stored.id}`, URL_ATTACK],
  ];
  for (const [screen, text] of screens) {
    await page.evaluate(`location.hash = '/hostile/${screen}'`);
    await page.locator('#main, main').getByText(text).first().waitFor();
    await isPlain(`console ${screen}`);
  }
  // The role `..` has a relative path as its name. Deleting the role must not send DELETE to the parent path.
  await page.getByRole('tab', { name: 'Roles' }).click();
  await page.getByText(ATTACK).first().waitFor();
  await isPlain('roles');
  await page.getByRole('link', { name: '..', exact: true }).click();
  await page.getByRole('heading', { name: '..', exact: true }).waitFor();
  await isPlain('role');
  await page.getByRole('button', { name: 'Delete role' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const roles = (await admin('GET', `/hostile/clients/${stored.id}/roles`)).json;
  assert.deepEqual(
    roles.map((role: { name: string }) => role.name),
    [ATTACK],
  );
  assert.deepEqual(trouble, []);
});
