import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { ownDirectory } from '../../src/config/index.ts';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen, collectComplaints, logInToConsole } from './console-screen.ts';
import { makePlace, post, readSecrets, startIdkit } from './idkit.ts';

const REALMS = ['garden', 'harbour', 'library'];

test('the frame of the console: search, realm switcher, addresses, unsaved changes and the keyboard', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const password = readSecrets(cwd)['IDKIT_ADMIN_PASSWORD']!;
  const token = async () => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password };
    return (await post(service.address, 'master', 'token', form)).body['access_token'];
  };
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${service.address}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  for (const realm of REALMS)
    await api('POST', '', {
      realm,
      displayName: `The ${realm}`,
      enabled: true,
      users: [
        { username: `rose-${realm}`, enabled: true, email: `rose@${realm}.example` },
        { username: `oak-${realm}`, enabled: true },
      ],
      groups: [{ name: 'roses', subGroups: [{ name: 'climbing roses' }] }],
      clients: [{ clientId: 'rose-shop', publicClient: true }],
      roles: { realm: [{ name: 'rose-reader', description: 'May read about roses' }] },
    });
  const [rose] = await api('GET', '/garden/users?username=rose-garden');

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  page.setDefaultTimeout(60_000);
  const complaints = collectComplaints(page);
  const place = `${service.address}/admin/master/console/`;
  const hash = () => new URL(page.url()).hash;
  const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const option = (name: string | RegExp) => page.getByRole('option', { name });

  await t.test('a screen is loaded when it is opened', async () => {
    const loaded: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/console/assets/') && request.url().endsWith('.js'))
        loaded.push(request.url().split('/').at(-1)!);
    });
    await page.goto(`${place}#/`);
    await logInToConsole(page, password);
    await heading('Realms');
    assert.ok(!loaded.some((name) => name.startsWith('operations')), loaded.join(' '));
    await page.getByRole('link', { name: 'Operations' }).click();
    await heading('Operations');
    assert.ok(
      loaded.some((name) => name.startsWith('operations')),
      loaded.join(' '),
    );
    const built = readdirSync(new URL('dist/console/assets/', ownDirectory()));
    assert.equal(built.filter((name) => name.endsWith('.css')).length, 1);
  });

  await t.test('the switcher finds a realm, and stays on the same list', async () => {
    await page.goto(`${place}#/garden/clients`);
    await page.getByRole('link', { name: 'rose-shop' }).waitFor();
    await page.getByRole('button', { name: /^garden: switch/ }).click();
    await option(/^harbour/).waitFor();
    await checkScreen(page, 'realm-switcher');
    await page.getByLabel('Find a realm').fill('libr');
    await option(/^harbour/).waitFor({ state: 'detached' });
    await option(/^library/).click();
    await page.getByText('Realm library').waitFor();
    assert.equal(hash(), '#/library/clients');
    await page.getByRole('button', { name: /^library: switch/ }).click();
    await option('All realms').click();
    await heading('Realms');
  });

  await t.test(
    'the search finds users, groups, clients and roles of a realm, with the keyboard alone',
    async () => {
      await page.goto(`${place}#/garden/users`);
      await heading('Users');
      await page.keyboard.press('/');
      const field = page.getByRole('combobox', { name: 'Search everything' });
      await field.waitFor();
      await page.keyboard.type('rose');
      for (const name of ['User rose-garden', 'Group roses', 'Client rose-shop', 'Role rose-reader'])
        await option(new RegExp(`^${name}`))
          .first()
          .waitFor();
      await checkScreen(page, 'search');
      await page.keyboard.press('Enter');
      await heading('rose-garden');
      assert.equal(hash(), `#/garden/users/${rose.id}`);
      await page.keyboard.press('Control+k');
      await field.fill(rose.id);
      await option(/^User rose-garden/).waitFor();
      await field.fill('libr');
      await option(/^Realm library/).click();
      await heading('Users');
      assert.equal(hash(), '#/library/users');
    },
  );

  await t.test('outside a realm, the search visits all realms', async () => {
    await page.goto(`${place}#/`);
    await heading('Realms');
    await page.getByRole('button', { name: 'Search everything' }).click();
    await page.getByRole('combobox', { name: 'Search everything' }).fill('oak');
    for (const realm of REALMS) await option(new RegExp(`^User oak-${realm}`)).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  await t.test('an address shows the same search, page and tab to another administrator', async () => {
    await page.goto(`${place}#/garden/users`);
    await page.getByLabel('Search by name or e-mail').fill('oak');
    await page.getByRole('link', { name: 'rose-garden' }).waitFor({ state: 'detached' });
    await page.waitForURL(/search=oak/);
    assert.equal(hash(), '#/garden/users?search=oak');
    await page.goto(`${place}#/garden/users/${rose.id}/sessions`);
    await page.reload();
    await page.getByText('No sessions').waitFor();
    await page.getByRole('tab', { name: 'Roles' }).click();
    await page.waitForURL(/roles$/);
    await page.goBack();
    await page.getByText('No sessions').waitFor();
    await page.goto(`${place}#/garden/nothing/here`);
    await page.getByText('This page does not exist').waitFor();
    await checkScreen(page, 'not-found');
  });

  await t.test('asks before unsaved changes are lost', async () => {
    await page.goto(`${place}#/garden/settings`);
    await heading('Realm settings');
    const field = page.getByRole('textbox', { name: 'Display name', exact: true });
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    await field.fill('Changed');
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await dialog.waitFor();
    await checkScreen(page, 'unsaved');
    await dialog.getByRole('button', { name: 'Stay' }).click();
    assert.equal(await field.inputValue(), 'Changed');
    assert.equal(hash(), '#/garden/settings');

    await page.goBack();
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await page.waitForURL(/settings$/);
    assert.equal(await field.inputValue(), 'Changed');

    await page.evaluate("location.hash = '#/garden/clients'");
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Discard changes' }).click();
    await heading('Clients');
    await page.goBack();
    await heading('Realm settings');
    assert.equal(await field.inputValue(), 'The garden');
    await field.fill('Changed');
    await page.getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await heading('Users');
  });

  await t.test('a notice covers no button, and leaves by itself', async () => {
    await page.setViewportSize({ width: 390, height: 700 });
    await page.goto(`${place}#/garden/settings`);
    await page.getByRole('textbox', { name: 'Display name', exact: true }).fill('The garden shop');
    await page.getByRole('button', { name: 'Save' }).click();
    const notice = page.getByText('The settings were saved');
    await notice.waitFor();
    const covered = await page.evaluate(
      "document.querySelector('#main').getBoundingClientRect().bottom > document.querySelector('.notices').getBoundingClientRect().top + 1",
    );
    assert.equal(covered, false);
    await page.screenshot();
    await notice.waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await t.test('a screen whose file does not exist any more says so, with a button to reload', async () => {
    await page.route('**/assets/keys-*.js', (route) => route.fulfill({ status: 404, body: 'gone' }));
    await page.goto(`${place}#/garden/keys`);
    await heading('Keys could not be loaded');
    await checkScreen(page, 'not-loaded');
    await page.unroute('**/assets/keys-*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading('Keys');
    complaints.splice(0);
  });

  assert.deepEqual(complaints, []);
});

test('over plain http at a network address, the console says what is missing', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const browser = await launchBrowser(['--host-resolver-rules=MAP console.test 127.0.0.1']);
  t.after(() => browser.close());
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  const complaints = collectComplaints(page);
  const address = service.address.replace('127.0.0.1', 'console.test');
  await page.goto(`${address}/admin/master/console/`);
  await page.getByRole('heading', { name: 'The console needs https, or localhost' }).waitFor();
  await page.getByText('crypto.subtle').waitFor();
  await checkScreen(page, 'insecure');
  assert.deepEqual(complaints, []);
});
