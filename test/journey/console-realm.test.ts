import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen, collectComplaints, logInToConsole } from './console-screen.ts';
import { makePlace, post, readSecrets, startIdkit } from './idkit.ts';

test('an administrator changes the settings and keys of a realm, exports, imports, disables and deletes it', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const password = readSecrets(cwd)['IDKIT_ADMIN_PASSWORD']!;
  const api = async (path: string, method = 'GET', sent?: unknown) => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password };
    const { body } = await post(service.address, 'master', 'token', form);
    const answer = await fetch(`${service.address}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${body['access_token']}`, 'content-type': 'application/json' },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: the test checks the fields
    return { status: answer.status, json: (text === '' ? undefined : JSON.parse(text)) as any };
  };
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ reducedMotion: 'reduce', acceptDownloads: true });
  page.setDefaultTimeout(60_000);
  const complaints = collectComplaints(page);
  const place = `${service.address}/admin/master/console/`;
  const dialog = page.getByRole('dialog');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
  const text = (name: string) => page.getByText(name).first().waitFor();
  const save = async (notice: string) => {
    await button('Save').click();
    await text(notice);
    await page.locator('button[type=submit]:disabled').waitFor();
  };
  let exported = '';

  await t.test('imports a file as a new realm, after a preview', async () => {
    await page.goto(place);
    await logInToConsole(page, password);
    await button('Import').click();
    const choose = (content: unknown, name = 'realm.json') =>
      dialog
        .getByLabel('File')
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(String(content)) });
    await choose('{ not JSON');
    await text('realm.json is not a JSON file');
    assert.equal(await dialog.getByRole('button', { name: 'Import' }).isDisabled(), true);
    await choose(JSON.stringify({ realm: 'master' }));
    await text('realm master exists already');
    await checkScreen(page, 'import-refused');
    const file = {
      realm: 'garden',
      displayName: 'Garden shop',
      enabled: true,
      resetPasswordAllowed: true,
      users: [{ username: 'rose', enabled: true }],
      groups: [{ name: 'flowers' }],
    };
    await choose(JSON.stringify(file));
    await text('Creates realm');
    await text('forgotten password');
    await checkScreen(page, 'import-preview');
    assert.equal((await api('/garden')).status, 404);
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('link', { name: 'rose' }).waitFor();
  });

  await t.test('adds the records of a file to an existing realm', async () => {
    await page.goto(`${place}#/`);
    await button('Import').click();
    const content = { realm: 'x', users: [{ username: 'rose' }, { username: 'lily', enabled: true }] };
    await dialog.getByLabel('File').setInputFiles({
      name: 'users.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(content)),
    });
    await dialog.getByLabel('Import into').selectOption('garden');
    await text('These records exist already');
    await dialog.getByLabel('If a record exists already').selectOption('SKIP');
    await text('Adds (1)');
    await checkScreen(page, 'import-records');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('link', { name: 'lily' }).waitFor();
  });

  await t.test('changes settings, and sends only what was changed', async () => {
    await page.goto(`${place}#/garden/settings`);
    await checkScreen(page, 'settings-general');
    await page.getByRole('textbox', { name: 'Display name', exact: true }).fill('The garden');
    // Another administrator saves in the meantime.
    const other = await api('/garden', 'PUT', { editUsernameAllowed: true });
    assert.equal(other.status, 204);
    await save('The settings were saved');
    const { json: both } = await api('/garden');
    assert.deepEqual([both.displayName, both.editUsernameAllowed], ['The garden', true]);
    await tab('Login');
    await page.getByLabel('Offer “Remember me”').check({ force: true });
    await page.getByLabel('Password policy').fill('length(12)');
    await checkScreen(page, 'settings-login');
    await save('The settings were saved');
    await tab('Tokens');
    await page.getByLabel('Lifetime of an access token', { exact: true }).fill('10');
    const grace = page.getByLabel('Grace period after a lost response', { exact: true });
    await grace.selectOption('seconds');
    await grace.fill('301');
    await text('At most 5 minutes');
    assert.equal(await button('Save').isDisabled(), true);
    await grace.fill('30');
    await checkScreen(page, 'settings-tokens');
    await save('The settings were saved');
    await tab('Sessions');
    await page.getByLabel('Remembered: ends without a refresh after', { exact: true }).selectOption('days');
    await checkScreen(page, 'settings-sessions');
    await save('The settings were saved');
    await tab('Brute force');
    await page.getByLabel('Lock users after failed logins').check({ force: true });
    await page.getByLabel('Failed logins until a lock').fill('5');
    await checkScreen(page, 'settings-brute-force');
    await save('The settings were saved');
    await tab('Security headers');
    await page.getByLabel('X-Frame-Options').fill('DENY');
    await checkScreen(page, 'settings-headers');
    await save('The settings were saved');
    await tab('Languages');
    await page.getByLabel('Offer several languages').check({ force: true });
    await page.getByLabel('German').check();
    await page.getByLabel('English').check();
    await page.getByLabel('Default language').selectOption('de');
    await checkScreen(page, 'settings-languages');
    await save('The languages were saved');
    const { json } = await api('/garden');
    assert.equal(json.rememberMe, true);
    assert.equal(json.passwordPolicy, 'length(12)');
    assert.equal(json.accessTokenLifespan, 600);
    assert.equal(json.attributes.refreshGraceSeconds, '30');
    assert.equal(json.ssoSessionIdleTimeoutRememberMe, 86_400);
    assert.deepEqual([json.bruteForceProtected, json.failureFactor], [true, 5]);
    assert.equal(json.browserSecurityHeaders.xFrameOptions, 'DENY');
    assert.equal(json.browserSecurityHeaders.xContentTypeOptions, 'nosniff');
    assert.deepEqual(json.supportedLocales.toSorted(), ['de', 'en']);
    assert.equal(json.defaultLocale, 'de');
  });

  await t.test('chooses a theme, shows its preview, and names the file of one with an error', async () => {
    const themes = join(cwd, 'idkit', 'config', 'themes');
    for (const [name, yaml] of [
      ['green', 'colors: { light: { accent: "#0a6640" } }'],
      ['broken', 'colour: {}'],
    ] as const) {
      mkdirSync(join(themes, name), { recursive: true });
      writeFileSync(join(themes, name, 'theme.yaml'), yaml);
    }
    await tab('Themes');
    await text('config/themes/broken/theme.yaml line 1: unknown key "colour"');
    await checkScreen(page, 'settings-themes');
    await page.getByLabel('Theme of the sign-in pages').selectOption('green');
    await save('The themes were saved');
    assert.equal((await api('/garden')).json.loginTheme, 'green');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: /^Preview of theme green/ }).click();
    const preview = await opened;
    await preview.getByRole('heading', { name: 'Preview of the theme green' }).waitFor();
    await preview.close();
  });

  await t.test('chooses which events are stored', async () => {
    await tab('Events');
    await page.getByLabel('Store events of users').check({ force: true });
    await page.getByLabel('Remove them after').selectOption('days');
    await page.getByRole('button', { name: /types of user events are stored/ }).click();
    await page.getByLabel('CODE_TO_TOKEN', { exact: true }).uncheck();
    await checkScreen(page, 'settings-events');
    await save('The settings were saved');
    const { json } = await api('/garden/events/config');
    assert.deepEqual([json.eventsEnabled, json.eventsExpiration], [true, 86_400]);
    assert.ok(!json.enabledEventTypes.includes('CODE_TO_TOKEN_ERROR'));
    assert.ok(json.enabledEventTypes.includes('LOGIN'));
  });

  await t.test('shows what the service rejects at its field', async () => {
    await tab('Brute force');
    await page.getByLabel('Failed logins until a lock').fill('3000000000');
    await button('Save').click();
    await text('must be at most 2147483647');
    const field = page.getByLabel('Failed logins until a lock');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await page.locator('input[aria-invalid=true]:focus').waitFor();
    await checkScreen(page, 'settings-refused');
    await button('Revert').click();
    // The browser reports the refused request.
    assert.match(complaints.splice(0).join(), /400/);
  });

  await t.test('rotates a key: the new one signs, the old one still verifies', async () => {
    const before = (await api('/garden/keys')).json.active['RS256'];
    await page.getByRole('link', { name: 'Keys' }).click();
    await button('Rotate RS256 key').click();
    await checkScreen(page, 'rotate-key');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await text('A new RS256 key is in use');
    await checkScreen(page, 'keys');
    const { active, keys } = (await api('/garden/keys')).json;
    assert.notEqual(active['RS256'], before);
    const old = keys.find(({ kid }: { kid: string }) => kid === before);
    assert.equal(old.status, 'PASSIVE');
    await button('Passive').click();
    await page.getByRole('button', { name: /^Disable: / }).click();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await text('No keys in this state');
    await button('Disabled').click();
    await page.getByRole('button', { name: /^Delete / }).click();
    await checkScreen(page, 'delete-key');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await text('No keys in this state');
    assert.ok(!(await api('/garden/keys')).json.keys.some(({ kid }: { kid: string }) => kid === before));
  });

  await t.test('exports the realm without users and secrets', async () => {
    await page.goto(`${place}#/garden/settings`);
    await button('Export').click();
    await checkScreen(page, 'export');
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download' }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'realm-garden.json');
    exported = readFileSync(await file.path(), 'utf8');
    const { realm, groups, users } = JSON.parse(exported);
    assert.deepEqual([realm, groups.length, users.length], ['garden', 1, 0]);
  });

  await t.test('disables and enables the realm, with the name typed', async () => {
    await button('Disable realm').click();
    const confirm = dialog.getByRole('button', { name: 'Disable' });
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByLabel('Type garden to confirm').fill('garde');
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByLabel('Type garden to confirm').fill('garden');
    await checkScreen(page, 'disable-realm');
    await confirm.click();
    await button('Enable realm').click();
    await text('Realm garden is enabled');
  });

  await t.test('renames the realm, and deletes it with the new name typed', async () => {
    await button('Rename realm').click();
    await dialog.getByLabel('Name').fill('park');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('Realm park').first().waitFor();
    await button('Delete realm').click();
    await dialog.getByLabel('Type park to confirm').fill('park');
    await checkScreen(page, 'delete-realm');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Realms', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'park', exact: true }).waitFor({ state: 'detached' });
    assert.equal((await api('/park')).status, 404);
  });

  await t.test('imports an exported file under another name', async () => {
    await button('Import').click();
    await dialog.getByLabel('File').setInputFiles({
      name: 'realm.json',
      mimeType: 'application/json',
      buffer: Buffer.from(exported),
    });
    await dialog.getByLabel('Name of the new realm').fill('orchard');
    await dialog.getByText('Creates realm orchard').waitFor();
    await checkScreen(page, 'import-as');
    await dialog.getByRole('button', { name: 'Import' }).click();
    await page.getByText('Realm orchard').first().waitFor();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    assert.equal((await api('/orchard/groups')).json[0].name, 'flowers');
  });

  assert.deepEqual(complaints, []);
});
