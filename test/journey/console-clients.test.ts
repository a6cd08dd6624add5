import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingBrowser } from '../http/pages/chromium.ts';
import { openConsole } from './console-place.ts';
import { checkScreen } from './console-screen.ts';

const REALM = {
  realm: 'garden',
  enabled: true,
  eventsEnabled: true,
  adminEventsEnabled: true,
  adminEventsDetailsEnabled: true,
  roles: { realm: [{ name: 'seller' }] },
  clients: [
    { clientId: 'shop', publicClient: true, directAccessGrantsEnabled: true },
    { clientId: 'desk', publicClient: true, directAccessGrantsEnabled: true },
  ],
  users: ['rose', 'lily'].map((username) => ({
    username,
    email: `${username}@example.org`,
    firstName: username,
    lastName: 'Green',
    enabled: true,
    realmRoles: ['offline_access'],
    credentials: [{ type: 'password', value: 'password-1' }],
  })),
};

test('an administrator manages clients, client scopes, sessions and events in the console', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const { page, open, button, dialog, press, says, token, complaints } = await openConsole(t, REALM);
  const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
  const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const logIn = (client_id: string, username: string, scope = 'openid') =>
    token({ grant_type: 'password', client_id, username, password: 'password-1', scope });

  await t.test('creates a client of each kind with safe settings', async () => {
    await open('clients');
    await button('Create client').click();
    await dialog.getByLabel('Client id').fill('shop');
    await dialog.getByLabel('Redirect URIs').fill('https://web.example.org/callback');
    await checkScreen(page, 'create-web-client');
    await press('Create');
    await dialog.locator('.pf-m-error', { hasText: 'Client shop already exists' }).waitFor();
    await dialog.getByLabel('Client id').fill('web');
    await dialog.getByLabel('Redirect URIs').fill('javascript:alert(1)');
    await press('Create');
    await dialog.locator('.pf-m-error', { hasText: 'A redirect URI uses an illegal scheme' }).waitFor();
    await checkScreen(page, 'create-client-error');
    await dialog.getByLabel('Redirect URIs').fill('https://web.example.org/callback');
    await press('Create');
    await heading('web');
    assert.equal(await page.getByLabel('It keeps a secret').isChecked(), true);
    assert.equal(await page.getByLabel('Proof key for code exchange (PKCE)').inputValue(), 'S256');
    await checkScreen(page, 'client-settings');
    for (const [kind, clientId] of [
      ['Single-page, mobile or desktop application', 'app'],
      ['Service', 'robot'],
    ] as const) {
      await open('clients');
      await button('Create client').click();
      await dialog.getByLabel(kind, { exact: true }).check();
      await dialog.getByLabel('Client id').fill(clientId);
      if (clientId === 'app') await dialog.getByLabel('Redirect URIs').fill('https://app.example.org/');
      await press('Create');
      await heading(clientId);
      assert.equal(await page.getByLabel('It keeps a secret').isChecked(), clientId === 'robot');
    }
  });

  await t.test(
    'shows the secret of a service on request, and its service account gets tokens with it',
    async () => {
      await tab('Secret');
      assert.equal(await page.getByLabel('Client secret').count(), 0);
      await button('Show secret').click();
      const client_secret = await page.getByLabel('Client secret').inputValue();
      await checkScreen(page, 'client-secret-shown');
      const form = { grant_type: 'client_credentials', client_id: 'robot' };
      assert.equal((await token({ ...form, client_secret })).status, 200);
      await button('New secret').click();
      await press('Generate');
      await says('The client has a new secret');
      assert.equal((await token({ ...form, client_secret })).status, 401);
      await tab('Service account');
      await button('Assign role').click();
      await dialog.getByRole('textbox').fill('seller');
      await dialog.getByLabel('seller').check();
      await press('Assign 1');
      await page.getByRole('row', { name: 'seller' }).getByText('Assigned directly').waitFor();
      await checkScreen(page, 'client-service-account');
    },
  );

  await t.test('changes scopes, mappers and lifetimes', async () => {
    await tab('Scopes');
    await checkScreen(page, 'client-scopes-of-client');
    await page.getByLabel('When phone is given').selectOption('Always');
    await says('Scope phone was changed');
    await page
      .getByLabel('When phone is given')
      .locator('option:checked', { hasText: 'Always' })
      .waitFor({ state: 'attached' });
    await button('Remove phone').click();
    await button('Remove phone').waitFor({ state: 'detached' });
    await button('Add scopes').click();
    await dialog.getByLabel('phone', { exact: true }).check();
    await checkScreen(page, 'client-add-scopes');
    await press('Add 1');
    await says('The scopes were added');
    await tab('Mappers');
    await button('Add mapper').click();
    await dialog.getByLabel('Type', { exact: true }).selectOption('Fixed claim');
    await dialog.getByLabel('Name').fill('colour');
    await dialog.getByRole('textbox', { name: 'Claim', exact: true }).fill('colour');
    await dialog.getByRole('textbox', { name: 'Value', exact: true }).fill('green');
    await checkScreen(page, 'client-add-mapper');
    await press('Add');
    await says('Mapper colour was saved');
    await button('colour').click();
    await dialog.getByRole('textbox', { name: 'Value', exact: true }).fill('blue');
    await press('Save');
    await checkScreen(page, 'client-mappers');
    await tab('Advanced');
    await page.getByLabel('Access token', { exact: true }).selectOption('minutes');
    await page.getByLabel('Access token', { exact: true }).fill('2');
    await page.getByLabel('Tokens may contain every role of the user').uncheck();
    const grace = page.getByLabel('Grace period after a lost response, in seconds');
    await grace.fill('5.5');
    await says('A whole number from 0 to 300');
    assert.equal(await button('Save').isDisabled(), true);
    await grace.fill('0');
    await checkScreen(page, 'client-advanced');
    await button('Save').click();
    await says('The client was saved');
    await says('No roles in scope');
    await tab('Secret');
    await button('Show secret').click();
    const client_secret = await page.getByLabel('Client secret').inputValue();
    const { body } = await token({ grant_type: 'client_credentials', client_id: 'robot', client_secret });
    assert.equal(body['expires_in'], 120);
    const [, payload = ''] = String(body['access_token']).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    assert.equal(claims['colour'], 'blue');
    assert.doesNotMatch(JSON.stringify(claims), /seller/);
  });

  await t.test('adds a role to a client scope, which all its clients get', async () => {
    await open('client-scopes');
    await page.getByRole('link', { name: 'profile', exact: true }).waitFor();
    await checkScreen(page, 'client-scopes');
    await button('Create client scope').click();
    await dialog.getByLabel('Name').fill('selling');
    await press('Create');
    await heading('selling');
    await checkScreen(page, 'client-scope');
    await tab('Roles in scope');
    await button('Add role').click();
    await dialog.getByRole('textbox').fill('seller');
    await dialog.getByLabel('seller').check();
    await press('Assign 1');
    await page.getByRole('link', { name: 'seller' }).waitFor();
    await checkScreen(page, 'client-scope-roles');
    await open('client-scopes');
    await page.getByLabel('How new clients get selling').selectOption('On request');
    await says('Scope selling was changed');
  });

  await t.test('deletes a client only after its name was typed', async () => {
    await open('clients');
    await page.getByRole('link', { name: 'app', exact: true }).click();
    await button('Delete client').click();
    assert.equal(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), true);
    await dialog.getByLabel('Type app to confirm').fill('app');
    await checkScreen(page, 'delete-client');
    await press('Delete');
    await says('Client app was deleted');
    await heading('Clients');
  });

  await t.test('shows the sessions of each client in a picture, and ends one or all', async () => {
    await open('sessions');
    await says('No sessions');
    for (const username of ['rose', 'lily']) assert.equal((await logIn('shop', username)).status, 200);
    assert.equal((await logIn('desk', 'rose', 'openid offline_access')).status, 200);
    await page.reload();
    await button('shop: 2 signed in').waitFor();
    await page.getByRole('link', { name: 'lily' }).waitFor();
    await checkScreen(page, 'sessions');
    await button('desk: 1 offline').click();
    await page.getByRole('link', { name: 'rose' }).waitFor();
    await page.getByRole('button', { name: /^Sign out session of rose/ }).click();
    await says('The session was ended');
    await button('desk: 1 offline').waitFor({ state: 'detached' });
    await button('Sign out everybody').click();
    await press('Sign out everybody');
    await says('No sessions');
  });

  await t.test('filters events, and names users instead of ids', async () => {
    await token({ grant_type: 'password', client_id: 'shop', username: 'rose', password: 'wrong' });
    await open('events');
    await page
      .getByRole('row', { name: /Sign-in failed/ })
      .first()
      .waitFor();
    await checkScreen(page, 'events-of-users');
    await page.getByLabel('Username').fill('rose');
    await page.getByLabel('What happened').selectOption({ label: 'Sign-in failed' });
    await page
      .getByRole('row', { name: /Signed in/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /Wrong password or code/ }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    assert.match(page.url(), /type=LOGIN_ERROR/);
    await button('Details').click();
    await dialog.getByText('invalid_user_credentials').waitFor();
    await checkScreen(page, 'event-details');
    await press('Close');
    await page.getByLabel('Username').fill('nobody');
    await button('Filter').click();
    await says('No events match the filters');
    await button('Clear filters').click();
    await page
      .getByRole('row', { name: /Signed in/ })
      .first()
      .waitFor();
    const today = new Date();
    const tomorrow = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1);
    const pad = (part: number) => String(part).padStart(2, '0');
    await page
      .getByLabel('From')
      .fill(`${tomorrow.getFullYear()}-${pad(tomorrow.getMonth() + 1)}-${pad(tomorrow.getDate())}`);
    await button('Filter').click();
    await says('No events match the filters');
    await tab('Administrators');
    await page.getByRole('row', { name: /Client robot: secret/ }).waitFor();
    await page
      .getByRole('row', { name: /admin of master/ })
      .first()
      .waitFor();
    await checkScreen(page, 'events-of-administrators');
    await page.getByLabel('To what').selectOption('Client scopes');
    await page.getByRole('row', { name: /Client robot: secret/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /new clients get it on request/ }).waitFor();
    await page
      .getByRole('row', { name: /Added Client scope selling admin/ })
      .getByRole('button', { name: 'Details' })
      .click();
    await dialog.getByText('"name": "selling"').waitFor();
    await checkScreen(page, 'admin-event-details');
    await press('Close');
  });

  assert.deepEqual(
    complaints.filter((text) => !/status of (?:400|401|404|409)/.test(text)),
    [],
  );
});
