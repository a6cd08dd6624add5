import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen, signOut } from './console-screen.ts';
import { makePlace, post, readSecrets, startIdkit } from './idkit.ts';

test('if the user is not logged in, the console says why and shows a button to log in', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const { IDKIT_ADMIN_USERNAME: username = 'admin', IDKIT_ADMIN_PASSWORD: password = '' } = readSecrets(cwd);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const console = `${service.address}/admin/master/console/`;

  await t.test('after a sign-out in another tab', async () => {
    await page.goto(console);
    await page.fill('#username', username);
    await page.fill('#password', password);
    await page.click('#kc-login');
    await page.getByRole('heading', { name: 'Realms' }).waitFor();
    const other = await context.newPage();
    await other.goto(console);
    await other.getByRole('heading', { name: 'Realms' }).waitFor();
    await signOut(other);
    await other.waitForSelector('#kc-form-login');
    await page.getByRole('heading', { name: 'You signed out in another tab' }).waitFor();
    await checkScreen(page, 'signed-out');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('#kc-form-login');
  });

  await t.test('at a host name other than that of the base URL', async () => {
    const { port } = new URL(service.address);
    await page.goto(`http://localhost:${port}/admin/master/console/`);
    await page.getByRole('heading', { name: /^The login cannot start: / }).waitFor();
  });

  await t.test('if the service refuses the console, without repeated attempts', async () => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username, password };
    const { body } = await post(service.address, 'master', 'token', form);
    const headers = {
      authorization: `Bearer ${body['access_token']}`,
      'content-type': 'application/json',
    };
    const clients = `${service.address}/admin/realms/master/clients`;
    const list = await fetch(`${clients}?clientId=security-admin-console`, { headers });
    const [client] = (await list.json()) as [{ id: string }];
    const response = await fetch(`${clients}/${client.id}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({ ...client, standardFlowEnabled: false }),
    });
    assert.equal(response.status, 204);
    let authorizations = 0;
    page.on('request', (request) => {
      if (request.url().includes('/protocol/openid-connect/auth?')) authorizations += 1;
    });
    await page.goto(console);
    await page.getByRole('heading', { name: /^The login failed: .*Standard flow is disabled/ }).waitFor();
    assert.equal(authorizations, 1);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: /^The login failed: / }).waitFor();
  });
});
