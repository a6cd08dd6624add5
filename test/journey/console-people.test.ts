import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingBrowser } from '../http/pages/chromium.ts';
import { openConsole } from './console-place.ts';
import { checkScreen } from './console-screen.ts';

const PROFILE = {
  attributes: [
    { name: 'username', permissions: { view: ['admin'], edit: ['admin'] } },
    {
      name: 'department',
      displayName: 'Department',
      permissions: { view: ['admin', 'user'], edit: ['admin'] },
    },
    {
      name: 'size',
      displayName: 'Shirt size',
      permissions: { view: ['admin', 'user'], edit: ['admin', 'user'] },
      validations: { options: { options: ['S', 'M', 'L'] } },
    },
  ],
};

const REALM = {
  realm: 'garden',
  enabled: true,
  bruteForceProtected: true,
  failureFactor: 2,
  passwordPolicy: 'length(8)',
  components: {
    'org.keycloak.userprofile.UserProfileProvider': [
      {
        providerId: 'declarative-user-profile',
        config: { 'kc.user.profile.config': [JSON.stringify(PROFILE)] },
      },
    ],
  },
  clients: [
    { clientId: 'shop', publicClient: true, directAccessGrantsEnabled: true, consentRequired: false },
    { clientId: 'orders' },
  ],
  roles: {
    realm: [
      { name: 'staff', composites: { client: { orders: ['read'] } } },
      { name: 'seller', description: 'Sells plants' },
    ],
    client: { orders: [{ name: 'read' }, { name: 'write' }] },
  },
  groups: [
    { name: 'Sales', realmRoles: ['seller'], subGroups: [{ name: 'North' }, { name: 'South' }] },
    { name: 'Office' },
  ],
  users: ['rose', 'lily', 'iris', 'ivy'].map((username) => ({
    username,
    email: `${username}@example.org`,
    firstName: username,
    lastName: 'Green',
    enabled: true,
    attributes: { plot: ['7'] },
    credentials: [{ type: 'password', value: 'password-1' }],
    clientConsents:
      username === 'rose'
        ? [{ clientId: 'shop', grantedClientScopes: ['profile', 'email'], createdDate: 1_700_000_000_000 }]
        : [],
  })),
};

test('an administrator manages users, groups and roles in the console', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const { page, open, button, dialog, press, says, token, complaints } = await openConsole(t, REALM);
  const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
  const cell = (name: string | RegExp) => page.getByRole('gridcell', { name, exact: true }).first().waitFor();
  const logIn = (username: string, password: string) =>
    token({ grant_type: 'password', client_id: 'shop', username, password });

  await t.test('edits the attributes that the user profile defines, and others', async () => {
    await page.getByRole('link', { name: 'rose' }).click();
    await page.getByLabel('Department').fill('Roses');
    await page.getByLabel('Shirt size').selectOption('M');
    await button('Add attribute').click();
    await page.getByLabel('Value of attribute 2').fill('red');
    await says('This value has no name, so it is not saved.');
    await page.getByLabel('Name of attribute 2').fill('colour');
    await page.getByLabel('Accept the terms').check();
    await checkScreen(page, 'user-details');
    await button('Save').click();
    await says('The user was saved');
    await page.reload();
    assert.equal(await page.getByLabel('Department').inputValue(), 'Roses');
    assert.equal(await page.getByLabel('Shirt size').inputValue(), 'M');
    assert.equal(await page.getByLabel('Name of attribute 1').inputValue(), 'colour');
    assert.equal(await page.getByLabel('Value of attribute 2').inputValue(), '7');
    await page.getByLabel('Accept the terms').uncheck();
    await button('Save').click();
    await button('Save').isDisabled();
  });

  await t.test('shows an error at its field, and keeps the input', async () => {
    await page.getByLabel('E-mail', { exact: true }).fill('lily@example.org');
    await button('Save').click();
    const field = page.getByLabel('E-mail', { exact: true });
    await page.locator('.pf-m-error', { hasText: 'User exists with same email' }).waitFor();
    assert.equal(await field.inputValue(), 'lily@example.org');
    await checkScreen(page, 'user-error');
    await button('Revert').click();
    assert.equal(await field.inputValue(), 'rose@example.org');
  });

  await t.test('shows the failed sign-ins of a locked user, and unlocks the user', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) await logIn('rose', 'wrong');
    assert.notEqual((await logIn('rose', 'password-1')).status, 200);
    await page.reload();
    await says(/Locked until .* after \d failed sign-ins$/);
    await checkScreen(page, 'user-locked');
    await button('Unlock').click();
    await says('rose was unlocked');
    assert.equal((await logIn('rose', 'password-1')).status, 200);
  });

  await t.test('sets a password according to the policy, and deletes it', async () => {
    await tab('Credentials');
    await cell('Password');
    await button('Set password').click();
    await dialog.getByLabel('New password').fill('short');
    await press('Set password');
    await dialog.locator('.pf-m-error', { hasText: 'Invalid password: minimum length 8.' }).waitFor();
    await checkScreen(page, 'user-set-password');
    await dialog.getByLabel('New password').fill('long enough');
    await dialog.getByLabel('Temporary').uncheck();
    await press('Set password');
    await says('The password was set');
    await checkScreen(page, 'user-credentials');
    assert.equal((await logIn('rose', 'long enough')).status, 200);
    await button('Delete Password').click();
    await press('Delete');
    await says('No credentials: the user cannot sign in');
  });

  await t.test(
    'a group gives its roles to its members, and the console says why a user has a role',
    async () => {
      await tab('Groups');
      await says('No groups');
      await button('Add to group').click();
      await dialog.getByLabel('Search groups').fill('north');
      await dialog.getByLabel('/Sales/North').check();
      await checkScreen(page, 'user-add-group');
      await press('Add');
      await cell('/Sales/North');
      await checkScreen(page, 'user-groups');
      await tab('Roles');
      await button('Assign role').click();
      await dialog.getByRole('textbox').fill('staff');
      await dialog.getByLabel('staff').check();
      await press('Assign 1');
      const row = (name: string) => page.getByRole('row', { name });
      await row('staff').getByText('Assigned directly').waitFor();
      await row('seller').getByText('From group /Sales').waitFor();
      await row('orders: read').getByText('Included in staff').waitFor();
      await checkScreen(page, 'user-effective-roles');
      assert.equal(await button('Unassign seller').count(), 0);
      const onlyDirect = page.getByLabel('Only assigned directly');
      await onlyDirect.check();
      const focused = await page.evaluate('document.activeElement?.id');
      assert.equal(focused, await onlyDirect.getAttribute('id'), 'the box keeps the focus');
      await row('seller').waitFor({ state: 'detached' });
      await button('Unassign staff').click();
      await says('staff was removed');
    },
  );

  await t.test('revokes a consent', async () => {
    await tab('Consents');
    await cell(/profile/);
    await checkScreen(page, 'user-consents');
    await button('Revoke the consent to shop').click();
    await press('Revoke');
    await says('No consents');
  });

  await t.test('chooses the users that a file names, and says which the realm does not have', async () => {
    await open('users');
    await button('Choose from a file').click();
    const file = (content: string) => ({
      name: 'users.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(content),
    });
    await dialog.getByLabel('File').setInputFiles(file('email,name\na@example.org,A\n'));
    await says('The first line has no column username, but email, name');
    await checkScreen(page, 'users-of-file-refused');
    await dialog.getByLabel('File').setInputFiles(file('username,email\nrose,x\nLILY,y\nnobody,z\n'));
    await says('2 users found');
    await dialog.getByRole('listitem').filter({ hasText: 'nobody' }).waitFor();
    await checkScreen(page, 'users-of-file');
    await press('Choose 2 users');
    await button('2 users chosen').waitFor();
    await checkScreen(page, 'users-of-file-chosen');
    assert.equal(await page.getByLabel('Choose rose').isChecked(), true);
    await button('Choose none').click();
  });

  await t.test('changes several users, and reports each of them', async () => {
    await open('users');
    for (const name of ['iris', 'ivy', 'lily']) await page.getByLabel(`Choose ${name}`).check();
    await button('3 users chosen').click();
    await checkScreen(page, 'users-chosen');
    await page.getByRole('menuitem', { name: 'Add to a group' }).click();
    await dialog.getByLabel('/Office').check();
    await press('Add to a group');
    await says('3 of 3');
    await checkScreen(page, 'users-report');
    assert.equal(await dialog.getByText('Done', { exact: true }).count(), 4);
    await press('Close');
    await button('3 users chosen').click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    // One of the users is deleted meanwhile, so that its row fails.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('link', { name: 'ivy' }).click();
    await other.getByRole('button', { name: 'Delete user' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await other.getByText('User ivy was deleted').waitFor();
    await other.close();
    await press('Disable');
    await says('1 failed');
    await dialog.getByRole('row', { name: /ivy/ }).getByText('User not found').waitFor();
    await checkScreen(page, 'users-report-failed');
    await press('Close');
    await page.getByLabel('State of the users').selectOption('Disabled users');
    await page.getByRole('link', { name: 'rose' }).waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('link', { name: /^(?:iris|lily)$/ }).count(), 2);
    assert.match(page.url(), /enabled=false/);
  });

  await t.test('shows groups as a tree, and moves, changes and deletes them', async () => {
    await open('groups');
    await says('4 in total');
    await button('Open Sales').click();
    await page.getByRole('link', { name: 'South' }).waitFor();
    await checkScreen(page, 'groups');
    await page.getByLabel('Search groups by name').fill('south');
    await page.getByRole('link', { name: '/Sales/South' }).click();
    await says('No members');
    await button('Add members').click();
    await dialog.getByLabel('Search users').fill('rose');
    await dialog.getByLabel('rose', { exact: true }).check();
    await checkScreen(page, 'group-add-members');
    await press('Add 1');
    await page.getByRole('link', { name: 'rose' }).waitFor();
    await checkScreen(page, 'group-members');
    await tab('Details');
    await page.getByLabel('Description').fill('The south of the garden');
    await button('Save').click();
    await says('The group was saved');
    await checkScreen(page, 'group-details');
    await button('Move').click();
    await dialog.getByLabel('/Office').check();
    await checkScreen(page, 'group-move');
    await press('Move');
    await says('Group South was moved');
    await page.locator('input[value="/Office/South"]').waitFor();
    await button('Delete group').click();
    await press('Delete');
    await page.getByRole('heading', { name: 'Office', level: 1 }).waitFor();
    await tab('Subgroups');
    await button('Create subgroup').click();
    await dialog.getByLabel('Name').fill('Post');
    await press('Create');
    await page.getByRole('heading', { name: 'Post', level: 1 }).waitFor();
    await tab('Roles');
    await says('No roles');
    await checkScreen(page, 'group-roles');
  });

  await t.test('creates a realm role with included roles and attributes, and lists its users', async () => {
    await open('roles');
    await button('Create role').click();
    await dialog.getByLabel('Name').fill('seller');
    await press('Create');
    await dialog.locator('.pf-m-error', { hasText: 'Role with name seller already exists' }).waitFor();
    await checkScreen(page, 'role-error');
    await dialog.getByLabel('Name').fill('manager');
    await press('Create');
    await page.getByRole('heading', { name: 'manager', level: 1 }).waitFor();
    await checkScreen(page, 'role');
    await tab('Included roles');
    await button('Include role').click();
    await dialog.getByRole('textbox').fill('orders:write');
    await dialog.getByLabel('orders: write').check();
    await press('Include 1');
    await cell('orders: write');
    await checkScreen(page, 'role-includes');
    await tab('Users');
    await says('No users');
    await checkScreen(page, 'role-users');
    await open('roles');
    await page.getByRole('link', { name: 'manager' }).waitFor();
    await checkScreen(page, 'roles');
  });

  await t.test('asks before the user leaves unsaved changes', async () => {
    await page.getByRole('link', { name: 'manager' }).click();
    await page.getByLabel('Description').fill('Manages');
    await page.getByRole('navigation').getByRole('link', { name: 'Groups' }).click();
    await dialog.getByText('Your changes on this screen are not saved.').waitFor();
    await press('Stay');
    assert.equal(await page.getByLabel('Description').inputValue(), 'Manages');
    await button('Revert').click();
  });

  // The browser reports each response with an error status, which the tests above provoke.
  assert.deepEqual(
    complaints.filter((text) => !/status of (?:400|404|409)/.test(text)),
    [],
  );
});
