import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingBrowser } from '../http/pages/chromium.ts';
import { fillLogin, shows, startShop } from './shop.ts';

test('a logout in one tab immediately ends the session in the other tab and at the service', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const { realm, open, url, application } = await startShop(t);
  const page = await open();
  await page.click('#login');
  await fillLogin(page);
  await page.click('#orders');
  await page.getByText('two chairs').waitFor();
  const other = await open();
  await shows(other, 'Hello, Alice Example');
  await other.click('#logout');
  await shows(page, 'Logged out (logout_elsewhere)');
  assert.equal(await page.getByRole('listitem').count(), 0);
  // The logout returns to the application without a confirmation, because the request contains the ID token.
  await shows(other, 'Logged out (not_logged_in)');
  assert.equal(other.url(), url);
  assert.equal(await realm.countEvents('logout'), 1);
  // The next login requires the password again.
  await page.click('#login');
  await page.waitForSelector('#password');
  assert.equal(application.output().includes('reported'), false);
});
