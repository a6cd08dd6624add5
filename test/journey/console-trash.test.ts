import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingBrowser } from '../http/pages/chromium.ts';
import { openConsole } from './console-place.ts';
import { checkScreen } from './console-screen.ts';

const REALM = {
  realm: 'garden',
  enabled: true,
  roles: { realm: [{ name: 'gardener' }] },
  clients: [{ clientId: 'shop', publicClient: true, directAccessGrantsEnabled: true }],
  users: ['alice', 'bob'].map((username) => ({
    username,
    email: `${username}@example.org`,
    firstName: 'A',
    lastName: 'B',
    enabled: true,
    realmRoles: ['gardener'],
    credentials: [{ type: 'password', value: 'secret-1' }],
  })),
};

test('an administrator deletes a user and a realm in the console, and restores both', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const { page, complaints, open, button, dialog, press, says, token } = await openConsole(t, REALM);
  const logIn = async () => {
    const form = { grant_type: 'password', client_id: 'shop', username: 'alice', password: 'secret-1' };
    return (await token(form)).status;
  };

  const deleteAlice = async () => {
    await open('users');
    await page.getByRole('link', { name: 'alice' }).click();
    await button('Delete user').click();
    await says('It can be restored for 7 days, apart from sessions.');
    await press('Delete');
    await says('User alice was deleted');
  };

  await t.test('a deleted user cannot log in, and is in the list of deleted records', async () => {
    assert.equal(await logIn(), 200);
    await deleteAlice();
    assert.notEqual(await logIn(), 200);
    await page.getByRole('link', { name: 'Deleted records' }).click();
    await button('Restore user alice').waitFor();
    await checkScreen(page, 'deleted-records');
  });

  await t.test('a restored user logs in with the same password', async () => {
    await button('Restore user alice').click();
    await checkScreen(page, 'restore-a-record');
    await press('Restore');
    await says('User alice was restored');
    await says('Nothing was deleted');
    assert.equal(await logIn(), 200);
  });

  await t.test('a clash says what to do, and another name avoids it', async () => {
    await deleteAlice();
    await open('users');
    await button('Create user').click();
    await dialog.getByRole('textbox', { name: 'Username', exact: true }).fill('alice');
    await press('Create');
    await says('User alice was created');
    await open('deleted');
    await button('Restore user alice').click();
    await press('Restore');
    await says(/another user has the username alice/);
    await dialog.getByRole('textbox', { name: 'Name' }).fill('alice-2');
    await press('Restore');
    await says('User alice-2 was restored');
  });

  await t.test('erases a record for good', async () => {
    await open('users');
    await page.getByRole('link', { name: 'bob' }).click();
    await button('Delete user').click();
    await press('Delete');
    await says('User bob was deleted');
    await open('deleted');
    await button('Erase user bob').click();
    await press('Erase');
    await says('User bob was erased');
    await says('Nothing was deleted');
  });

  await t.test('restores a realm', async () => {
    await open('settings');
    await button('Delete realm').click();
    await dialog.getByRole('textbox').fill('garden');
    await press('Delete');
    await says('Realm garden was deleted');
    await page.getByRole('link', { name: 'Deleted realms' }).click();
    await button('Restore realm garden').click();
    await press('Restore');
    await says('Realm garden was restored');
    await open('users');
    await page.getByRole('link', { name: 'alice-2' }).waitFor();
  });

  // The browser reports the 409 of the clash.
  assert.deepEqual(
    complaints.filter((text) => !text.includes('409')),
    [],
  );
});
