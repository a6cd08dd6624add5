import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { checkScreen, collectComplaints, logInToConsole } from './console-screen.ts';
import { makePlace, post, readSecrets, startIdkit } from './idkit.ts';

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'a passphrase for the console' };

test('the screen Operations shows alerts, traffic, the schedule and backup sets with their reports', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const cwd = makePlace(t);
  const service = await startIdkit(t, { cwd });
  const password = readSecrets(cwd)['IDKIT_ADMIN_PASSWORD']!;
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints = collectComplaints(page);
  const text = (name: string | RegExp) => page.getByText(name).first().waitFor();
  const place = `${service.address}/admin/master/console/#/operations`;

  await t.test('without any backup, it says so', async () => {
    await page.goto(place);
    await logInToConsole(page, password);
    await text(/has no set with the database/);
    await text('No backup sets');
    await checkScreen(page, 'operations-empty');
  });

  await t.test('after a backup, its verification and a test restore, it shows their reports', async () => {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin' };
    for (const one of [password, password, 'wrong'])
      await post(service.address, 'master', 'token', { ...form, password: one });
    for (const argv of [['backup'], ['verify'], ['drill']]) {
      const ended = await service.run(argv, { env: PASSPHRASE });
      assert.equal(ended.code, 0, ended.stderr);
    }
    await page.reload();
    await page.getByText('Nothing needs an operator now').waitFor();
    await page.getByRole('img', { name: /^Logins: [3-9] succeeded and 1 failed/ }).waitFor();
    const rowOf = (table: string) =>
      page
        .getByRole('grid', { name: table })
        .getByRole('row')
        .filter({ hasText: /\d{8}_\d{6}/ });
    const row = rowOf('Backup sets');
    assert.match(await row.innerText(), /all\s+Good\s+Passed/);
    assert.match(await rowOf('Test restores').innerText(), /embedded\s+Passed\s+just now/);
    await checkScreen(page, 'operations');
    await row.getByRole('button').click();
    await page.getByRole('dialog').getByText('sealed').waitFor();
    await page.getByRole('dialog').getByText('Passed after').waitFor();
    await checkScreen(page, 'backup-set');
    await page.keyboard.press('Escape');
  });

  await t.test('copies the command that restores the newest good set', async () => {
    const command = await page.getByLabel('Command that restores the newest good set').inputValue();
    assert.match(command, /^idkit --dir \S+ restore --from \S+\/backups\/\d{8}_\d{6}$/);
    await page.getByRole('button', { name: 'Copy' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), command);
  });

  assert.deepEqual(complaints, []);
});
