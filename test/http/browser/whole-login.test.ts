import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { administrator } from '../administrator.ts';
import { collectMessages, launchBrowser, missingBrowser } from '../pages/chromium.ts';
import { startTestService, type TestService } from '../service.ts';
import { type RelyingParty, startRelyingParty } from './relying-party.ts';

const skip = missingBrowser();
const SECRET = 'a-secret-of-twenty-b';

let service: TestService;
let client: RelyingParty;
let browser: Browser;

before(async () => {
  if (skip !== undefined) return;
  service = await startTestService();
  const admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    displayName: 'Acme Works',
    rememberMe: true,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de'],
    defaultLocale: 'en',
    localizationTexts: { de: { termsText: '<p>Seien Sie freundlich.</p>' } },
    users: [
      {
        username: 'alice',
        enabled: true,
        email: 'alice@example.test',
        requiredActions: ['TERMS_AND_CONDITIONS', 'UPDATE_PASSWORD'],
        credentials: [
          { type: 'password', value: 'old-password' },
          {
            type: 'otp',
            userLabel: 'Phone',
            secretData: JSON.stringify({ value: SECRET }),
            credentialData: JSON.stringify({
              subType: 'totp',
              digits: 6,
              counter: 0,
              period: 30,
              algorithm: 'HmacSHA1',
            }),
          },
        ],
      },
    ],
    requiredActions: [
      {
        alias: 'TERMS_AND_CONDITIONS',
        name: 'Terms and Conditions',
        providerId: 'TERMS_AND_CONDITIONS',
        enabled: true,
        defaultAction: false,
        priority: 20,
        config: {},
      },
      {
        alias: 'UPDATE_PASSWORD',
        name: 'Update Password',
        providerId: 'UPDATE_PASSWORD',
        enabled: true,
        defaultAction: false,
        priority: 30,
        config: {},
      },
      {
        alias: 'VERIFY_PROFILE',
        name: 'Verify Profile',
        providerId: 'VERIFY_PROFILE',
        enabled: true,
        defaultAction: false,
        priority: 100,
        config: {},
      },
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  client = await startRelyingParty(service, {
    realm: 'acme',
    client: { name: 'Orders', consentRequired: true, fullScopeAllowed: false },
  });
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  client?.close();
  await service?.stop();
});

function oneTimePassword(now: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', SECRET).update(counter).digest();
  const offset = digest.at(-1)! & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

test('a first login through every page works in German and without scripts', { skip }, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, locale: 'de-DE' });
  const page = await context.newPage();
  const problems = collectMessages(page);
  const heading = () => page.innerText('#kc-page-title');

  await page.goto(client.authorizationUrl());
  assert.equal(await heading(), 'Bei Ihrem Konto anmelden');
  await page.fill('#username', 'Alice@example.test');
  await page.fill('#password', 'wrong');
  await page.check('#rememberMe');
  await page.click('#kc-login');
  assert.equal(await page.innerText('#input-error'), 'Benutzername oder Passwort ist falsch.');
  assert.equal(await page.isChecked('#rememberMe'), true);
  await page.fill('#password', 'old-password');
  await page.click('#kc-login');

  await page.fill('#otp', '000000');
  await page.click('#kc-login');
  assert.equal(await page.innerText('#input-error'), 'Der Einmalcode ist falsch.');
  await page.fill('#otp', oneTimePassword(Date.now()));
  await page.click('#kc-login');

  assert.equal(await heading(), 'Nutzungsbedingungen');
  assert.equal(await page.innerText('#kc-terms-text'), 'Seien Sie freundlich.');
  await page.click('#kc-accept');

  assert.equal(await heading(), 'Passwort ändern');
  await page.fill('#password-new', 'new-password');
  await page.fill('#password-confirm', 'other-password');
  await page.click('#kc-submit');
  assert.match(await page.innerText('#input-error'), /^Die beiden neuen Passwörter sind verschieden\./);
  await page.fill('#password-new', 'new-password');
  await page.fill('#password-confirm', 'new-password');
  await page.click('#kc-submit');

  assert.equal(await heading(), 'Kontoinformationen aktualisieren');
  await page.fill('#firstName', 'Alice');
  await page.click('#kc-submit');
  assert.equal(await page.innerText('#input-error-lastName'), 'Bitte füllen Sie dieses Feld aus.');
  await page.fill('#lastName', 'Archer');
  await page.click('#kc-submit');

  assert.equal(await heading(), 'Zugriff für Orders erlauben');
  assert.match(await page.innerText('#kc-oauth'), /Benutzerprofil/);
  await page.click('[name=accept]');
  await page.waitForURL(`${client.redirectUri}?**`);
  const answered = new URL(page.url()).searchParams;
  assert.equal(answered.get('state'), 's1');
  assert.ok(answered.get('code'));
  assert.deepEqual(problems, []);
  await context.close();
});

test('a second tab and the back button continue the login without an error', { skip }, async () => {
  const context = await browser.newContext();
  const [one, two] = [await context.newPage(), await context.newPage()];
  await one.goto(client.authorizationUrl({ state: 'one' }));
  await two.goto(client.authorizationUrl({ state: 'two' }));
  for (const page of [one, two]) {
    await page.fill('#username', 'alice');
    await page.fill('#password', 'new-password');
  }
  await one.click('#kc-login');
  await one.waitForSelector('#otp');
  await one.goBack();
  await one.fill('#username', 'alice');
  await one.fill('#password', 'new-password');
  await one.click('#kc-login');
  await one.waitForSelector('#kc-page-title');
  assert.notEqual(await one.innerText('#kc-page-title'), 'We are sorry...');
  await two.click('#kc-login');
  await two.waitForSelector('#otp');
  await context.close();
});
