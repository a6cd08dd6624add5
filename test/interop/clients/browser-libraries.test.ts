import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExampleRealm } from '../../client/example-realm.ts';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { logIn, openTab, pageListener, says } from './browser-page.ts';
import { clientOf, listen, serveClients } from './served-clients.ts';

// These tests use the unmodified oidc-client-ts and keycloak-js in a browser, at a different origin from the service.

test('client libraries in a browser', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  let realm: ExampleRealm;
  const pages = {
    oidc: await listen(t, await pageListener('oidc-client.js', () => ({ authority: realm.issuer }))),
    keycloak: await listen(t, await pageListener('keycloak.js', () => ({ url: realm.address }))),
  };
  realm = await serveClients(t, [
    clientOf('oidc-client-ts', pages.oidc.origin, { publicClient: true }),
    clientOf('keycloak-js', pages.keycloak.origin, { publicClient: true }),
  ]);
  const browser = await launchBrowser();
  t.after(() => browser.close());

  await t.test('oidc-client-ts: login, renewal in a hidden frame, and logout', async () => {
    const context = await browser.newContext();
    const page = await openTab(context, pages.oidc.origin);
    await says(page, 'nobody');
    await page.click('#renew');
    await says(page, 'not renewed: login_required');
    await logIn(page);
    await says(page, 'alice, alice@example.org');
    const logins = await realm.countEvents('login');
    await page.click('#renew');
    await says(page, 'renewed for alice');
    assert.equal((await realm.countEvents('login')) - logins, 1);
    assert.equal(await realm.countEvents('refresh_token'), 0);
    await page.click('#logout');
    await says(page, 'nobody');
    assert.equal(page.url(), `${pages.oidc.origin}/`);
    await page.click('#renew');
    await says(page, 'not renewed: login_required');
    await context.close();
  });

  await t.test('oidc-client-ts: the session iframe reports a logout in another tab', async () => {
    const context = await browser.newContext();
    const page = await openTab(context, pages.oidc.origin);
    await logIn(page);
    await says(page, 'alice, alice@example.org');
    const other = await openTab(context, pages.oidc.origin);
    await other.click('#renew');
    await says(other, 'renewed for alice');
    await other.click('#logout');
    await says(other, 'nobody');
    await says(page, 'signed out elsewhere');
    await context.close();
  });

  await t.test('keycloak-js: check-sso, login, renewal and logout', async () => {
    const context = await browser.newContext();
    const page = await openTab(context, pages.keycloak.origin);
    await says(page, 'nobody');
    await logIn(page);
    await says(page, 'alice, alice@example.org');
    await page.click('#renew');
    await says(page, 'renewed for alice');
    await page.click('#logout');
    await says(page, 'nobody');
    await page.click('#login');
    await page.waitForSelector('#kc-form-login');
    await context.close();
  });

  await t.test('keycloak-js: another tab logs in silently, and its logout ends the first', async () => {
    const context = await browser.newContext();
    const page = await openTab(context, pages.keycloak.origin);
    await says(page, 'nobody');
    await logIn(page);
    await says(page, 'alice, alice@example.org');
    const other = await openTab(context, pages.keycloak.origin);
    await says(other, 'alice, alice@example.org');
    await other.click('#logout');
    await says(other, 'nobody');
    await says(page, 'signed out elsewhere');
    await context.close();
  });
});
