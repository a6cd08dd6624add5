import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { runExample } from '../examples/run-example.ts';
import { shows, wait } from '../examples/shop.ts';
import { freePort } from '../free-port.ts';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen, collectComplaints, signOut } from './console-screen.ts';
import { makePlace, readSecrets, startIdkit } from './idkit.ts';

const PASSWORD = 'correct horse battery staple';
/** Maximum compressed size of the first load in bytes. */
const FIRST_LOAD = 300_000;

test('a new administrator creates a realm, a client and a user in the console, and that user logs in', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const { IDKIT_ADMIN_USERNAME = 'admin', IDKIT_ADMIN_PASSWORD } = readSecrets(cwd);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  const port = await freePort();
  const shop = `http://localhost:${port}/`;

  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints = collectComplaints(page);
  const dialog = page.getByRole('dialog');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const fill = async (fields: Readonly<Record<string, string>>) => {
    for (const [label, value] of Object.entries(fields))
      await dialog.getByRole('textbox', { name: label, exact: true }).fill(value);
  };
  const waitForText = (text: string) => page.getByText(text).waitFor();

  await t.test('the base URL redirects to the console, which redirects to the login and back', async () => {
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (new URL(request.url()).pathname.startsWith('/admin/master/console/'))
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(service.address);
    await logIn(page, IDKIT_ADMIN_USERNAME, IDKIT_ADMIN_PASSWORD!, 'login');
    await heading('Realms');
    await checkScreen(page, 'realms');
    assert.equal(page.url(), `${service.address}/admin/master/console/`);
    const [local, session, cookies] = JSON.parse(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
    );
    // A word remembers that this tab was logged in, so that a reload does not show the login page. No token is stored.
    assert.deepEqual([local, Object.values(session), cookies], [{}, ['yes'], '']);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 100_000 && bytes <= FIRST_LOAD, `first load: ${bytes} bytes`);
    t.diagnostic(`the console's first load: ${bytes} bytes compressed`);
  });

  await t.test('creates a realm', async () => {
    await button('Create realm').click();
    await fill({ Name: 'garden', 'Display name': 'Garden shop' });
    await checkScreen(page, 'create-realm');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await waitForText('Realm garden was created');
    await heading('Users');
    await waitForText('No users');
    await checkScreen(page, 'no-users');
  });

  await t.test('creates a client in the form, and a protected API with a role', async () => {
    await page.getByRole('link', { name: 'Clients', exact: true }).click();
    await button('Create client').click();
    await dialog.getByLabel('Single-page, mobile or desktop application').check();
    await fill({ 'Client id': 'shop', 'Redirect URIs, one per line': shop });
    await checkScreen(page, 'create-client');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await heading('shop');
    await checkScreen(page, 'client');
    await page.getByRole('link', { name: 'Clients', exact: true }).click();
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor();
    await checkScreen(page, 'clients');
    await button('Create client').click();
    await dialog.getByLabel('Service', { exact: true }).check();
    await fill({ 'Client id': 'orders-api' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await heading('orders-api');
    await page.getByRole('tab', { name: 'Secret' }).click();
    await button('Show secret').click();
    await page.getByLabel('Client secret').waitFor();
    await checkScreen(page, 'client-secret');
    await page.getByRole('tab', { name: 'Service account' }).click();
    await page.getByRole('link', { name: 'default-roles-garden', exact: true }).waitFor();
    await checkScreen(page, 'service-account');
    await page.getByRole('tab', { name: 'Roles' }).click();
    await button('Create role').click();
    await fill({ Name: 'read' });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await waitForText('Role read was created');
    await checkScreen(page, 'client-roles');
  });

  await t.test('creates a user with a password and a role', async () => {
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await button('Create user').click();
    await fill({ Username: 'rose', 'E-mail': 'rose@example.org', 'First name': 'Rose', 'Last name': 'Bush' });
    await checkScreen(page, 'create-user');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await heading('rose');
    await checkScreen(page, 'user');
    await page.getByRole('tab', { name: 'Credentials' }).click();
    await button('Set password').click();
    await dialog.getByLabel('New password').fill(PASSWORD);
    await dialog.getByLabel('Temporary').uncheck();
    await checkScreen(page, 'user-password');
    await dialog.getByRole('button', { name: 'Set password' }).click();
    await waitForText('The password was set');
    await page.getByRole('tab', { name: 'Roles' }).click();
    await button('Assign role').click();
    await dialog.getByRole('textbox').fill('orders-api:read');
    await dialog.getByLabel('orders-api: read').check();
    await checkScreen(page, 'assign-roles');
    await dialog.getByRole('button', { name: 'Assign 1' }).click();
    await waitForText('The roles were assigned');
    await page.getByRole('gridcell', { name: 'orders-api: read', exact: true }).waitFor();
    await checkScreen(page, 'user-roles');
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByLabel('Search by name or e-mail').fill('nobody');
    await waitForText('Nothing matches');
    await page.getByLabel('Search by name or e-mail').fill('bush');
    await page.getByRole('link', { name: 'rose' }).waitFor();
    await checkScreen(page, 'users');
  });

  await t.test(
    'the user logs in to an application, which renews its tokens, and logs out in another tab',
    async () => {
      const env = { BASE_URL: service.address, REALM: 'garden', CONDITIONS: 'idkit-source' };
      const api = runExample(t, 'protected-api.js', { ...env, PORT: '0', APP_ORIGIN: new URL(shop).origin });
      const [, API] = await api.printed(/protected API on (\S+)/);
      await runExample(t, 'single-page/serve.js', { ...env, API: API!, PORT: String(port) }).printed(
        /shop is on/,
      );
      const first = await context.newPage();
      await first.goto(shop);
      await first.click('#login');
      await first.getByText('Garden shop').waitFor();
      await logIn(first, 'rose', PASSWORD, 'garden-login');
      await shows(first, 'Hello, Rose Bush');
      await wait(first, 241_000);
      const renewal = first.waitForRequest((request) =>
        (request.postData() ?? '').includes('grant_type=refresh_token'),
      );
      await first.click('#orders');
      assert.equal((await (await renewal).response())?.status(), 200);
      await first.getByRole('listitem').first().waitFor();
      assert.deepEqual(await first.getByRole('listitem').allTextContents(), ['a lamp', 'two chairs']);

      await page.bringToFront();
      await page.getByRole('link', { name: 'rose' }).click();
      await page.getByRole('tab', { name: 'Sessions' }).click();
      await page.getByRole('gridcell', { name: 'shop', exact: true }).waitFor();
      await checkScreen(page, 'user-sessions');

      const other = await context.newPage();
      await other.goto(shop);
      await shows(other, 'Hello, Rose Bush');
      await other.click('#logout');
      await shows(first, 'Logged out (logout_elsewhere)');
      await shows(other, 'Logged out (not_logged_in)');
      await first.click('#login');
      await first.waitForSelector('#kc-form-login');
      await Promise.all([first.close(), other.close()]);
      await page.bringToFront();
    },
  );

  await t.test('shows events and keys, and a sign-out leads to the login', async () => {
    await page.getByRole('link', { name: 'Events' }).click();
    await waitForText('This realm does not store events');
    await checkScreen(page, 'events');
    await page.getByRole('tab', { name: 'Administrators' }).click();
    await waitForText('This realm does not store administrator events');
    await checkScreen(page, 'admin-events');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('gridcell', { name: 'RS256', exact: true }).waitFor();
    await checkScreen(page, 'keys');
    await signOut(page);
    await page.waitForSelector('#kc-form-login');
    await page.goto(`${service.address}/admin/garden/console/`);
    await page.waitForSelector('#kc-form-login');
    await page.getByText('Garden shop').waitFor();
  });

  assert.deepEqual(complaints, []);
});

async function logIn(page: Page, username: string, password: string, screen: string): Promise<void> {
  await page.waitForSelector('#kc-form-login');
  await checkScreen(page, screen);
  await page.fill('#username', username);
  await page.fill('#password', password);
  await page.click('#kc-login');
}
