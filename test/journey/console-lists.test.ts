import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen } from './console-screen.ts';
import { makePlace, post, readSecrets, runIdkit, startIdkit } from './idkit.ts';

/** Three pages of users with markup in their names. Some users are disabled. */
const REALM = {
  realm: 'garden',
  enabled: true,
  eventsEnabled: true,
  clients: [{ clientId: 'shop', publicClient: true, directAccessGrantsEnabled: true }],
  users: Array.from({ length: 45 }, (_, index) => ({
    username: `user-${String(index).padStart(2, '0')}`,
    email: `user-${index}@example.org`,
    firstName: '<b onclick=alert(1)>',
    lastName: '"&amp;',
    enabled: index % 5 !== 1,
    credentials: [{ type: 'password', value: `password-${index}` }],
  })),
};

test('the console shows long lists in pages, searches, ends sessions, deletes users and reports errors', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  await runIdkit(['init'], { cwd });
  writeFileSync(join(cwd, 'idkit', 'import', 'realm.json'), JSON.stringify(REALM));
  const service = await startIdkit(t, { cwd });
  const logIn = (username: string, password: string) =>
    post(service.address, 'garden', 'token', {
      grant_type: 'password',
      client_id: 'shop',
      username,
      password,
    });
  for (const password of ['password-0', 'password-0', 'wrong']) await logIn('user-00', password);

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  page.setDefaultTimeout(30_000);
  const dialog = page.getByRole('dialog');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const users = `${service.address}/admin/master/console/#/garden/users`;

  await t.test('the login returns to the requested screen', async () => {
    await page.goto(users);
    await page.fill('#username', 'admin');
    await page.fill('#password', readSecrets(cwd)['IDKIT_ADMIN_PASSWORD']!);
    await page.click('#kc-login');
    await page.getByText('45 in total').waitFor();
    assert.equal(page.url(), users);
  });

  await t.test('a list has pages, and a search starts at the first page', async () => {
    await page.getByRole('link', { name: 'user-19' }).waitFor();
    assert.equal(await page.getByRole('link', { name: /^user-/ }).count(), 20);
    await checkScreen(page, 'pages-of-users');
    await button('Next page of Users').click();
    await page.getByRole('link', { name: 'user-20' }).waitFor();
    await button('Next page of Users').click();
    await page.getByRole('link', { name: 'user-44' }).waitFor();
    assert.equal(await button('Next page of Users').isDisabled(), true);
    await page.getByLabel('Search by name or e-mail').fill('user-0');
    await page.getByRole('link', { name: 'user-00' }).waitFor();
    assert.equal(await page.getByRole('link', { name: /^user-/ }).count(), 10);
  });

  await t.test('shows the message of a refusal, and the dialog keeps its input', async () => {
    await button('Create user').click();
    await dialog.getByRole('textbox', { name: 'Username', exact: true }).fill('user-01');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The user was not created: User exists with same username').waitFor();
    assert.equal(
      await dialog.getByRole('textbox', { name: 'Username', exact: true }).inputValue(),
      'user-01',
    );
    await checkScreen(page, 'refused');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  await t.test('ends one session, and all sessions', async () => {
    await page.getByRole('link', { name: 'user-00' }).click();
    await page.getByRole('tab', { name: 'Sessions' }).click();
    await page.getByRole('gridcell').getByRole('button', { name: 'Sign out' }).first().click();
    await page.getByText('The session was ended').waitFor();
    await button('Sign out everywhere').click();
    await page.getByText('No sessions').waitFor();
    assert.equal((await logIn('user-00', 'password-0')).status, 200);
  });

  await t.test('lists events by type', async () => {
    await page.getByRole('link', { name: 'Events' }).click();
    const rows = page.getByRole('row');
    await rows.getByText('Sign-in failed', { exact: true }).waitFor();
    await page.getByLabel('What happened').selectOption({ label: 'Sign-in failed' });
    await rows.getByText('Signed in', { exact: true }).first().waitFor({ state: 'detached' });
    assert.equal(await rows.count(), 2);
  });

  await t.test('changes a user, deletes it after a confirmation, and sends nothing else', async () => {
    await page.goto(users);
    await page.getByRole('link', { name: 'user-02' }).click();
    await page.getByLabel('First name').fill('Rose');
    await button('Save').click();
    await page.getByText('Success alert:The user was saved').waitFor();
    const sent: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      // Ignore requests to the token endpoint, because the page can renew its tokens at any time.
      if (request.method() === 'GET' || pathname.endsWith('/protocol/openid-connect/token')) return;
      sent.push(`${request.method()} ${pathname}`);
    });
    await button('Delete user').click();
    await checkScreen(page, 'delete-user');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('User user-02 was deleted').waitFor();
    await page.getByText('44 in total').waitFor();
    assert.equal(sent.length, 1);
    assert.match(sent[0]!, /^DELETE \/admin\/realms\/garden\/users\/[\w-]+$/);
  });

  await t.test('reports that the service is unreachable, with a button to try again', async () => {
    await service.stop();
    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByText('The service is unreachable').waitFor();
    await button('Try again').waitFor();
    await checkScreen(page, 'unreachable');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys could not be loaded' }).waitFor();
    await button('Try again').waitFor();
  });
});
