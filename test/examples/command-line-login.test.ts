import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startExampleRealm } from '../client/example-realm.ts';
import { launchBrowser, missingBrowser } from '../http/pages/chromium.ts';
import { runExample } from './run-example.ts';
import { fillLogin } from './shop.ts';

test('a user logs in to a command-line program through a browser (RFC 8252)', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const realm = await startExampleRealm(t);
  const BASE_URL = realm.address;
  const api = runExample(t, 'protected-api.js', { BASE_URL, PORT: '0' });
  const [, API] = await api.printed(/protected API on (\S+)/);
  const program = runExample(t, 'command-line-login.js', { BASE_URL, API: API! });
  const [, address] = await program.printed(/Open this page in your browser: (\S+)/);

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(address!);
  await fillLogin(page, 'bob');
  await page.getByText('You can close this page').waitFor();
  assert.equal(await program.ended, 0, program.output());
  assert.match(program.output(), /\nlogged in as bob\n2 orders\nlogged out\n$/);
});
