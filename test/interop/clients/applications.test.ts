import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import express from 'express';
import expressOpenid from 'express-openid-connect';
import session from 'express-session';
import KeycloakConnect from 'keycloak-connect';
import type { Page } from 'playwright-core';
import { fillLogin } from '../../examples/shop.ts';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { APACHE, MODULES, prepareApache } from './apache.ts';
import { clientOf, listen, SECRET, serveClients } from './served-clients.ts';

// These tests log in to unmodified web applications in a browser. A middleware or an Apache module handles the login.

/**
 * Checks that a login opens the protected page, that a logout leads to the login page, and that single sign-on needs no
 * password.
 */
async function logInAndOut(page: Page, place: { protected: string; logout: string; open: string }) {
  page.setDefaultTimeout(30_000);
  await page.goto(place.protected);
  await fillLogin(page);
  await page.getByText('for users').waitFor();
  await page
    .context()
    .clearCookies({ path: '/', name: /^(connect\.sid|appSession|mod_auth_openidc_session)$/ });
  const again = await page.goto(place.protected);
  await page.getByText('for users').waitFor();
  await page.goto(place.logout);
  await page.getByText('open to all').waitFor();
  assert.equal(page.url(), place.open);
  await page.goto(place.protected);
  await page.waitForSelector('#kc-form-login');
  return again;
}

test('web applications with their own login', async (t) => {
  const missing = missingBrowser();
  if (missing !== undefined) return t.skip(missing);
  const hasApache = existsSync(APACHE) && existsSync(`${MODULES}/mod_auth_openidc.so`);
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1')
    assert.ok(hasApache, 'needs apache2 with mod_auth_openidc');

  const applications = { keycloak: express(), openid: express() };
  const keycloak = await listen(t, applications.keycloak);
  const openid = await listen(t, applications.openid);
  const apache = hasApache ? await prepareApache(t) : undefined;
  const realm = await serveClients(t, [
    clientOf('keycloak-connect', keycloak.origin, { secret: SECRET }),
    clientOf('express-openid-connect', openid.origin, { secret: SECRET }),
    clientOf('mod_auth_openidc', apache?.origin ?? 'http://127.0.0.1', { secret: SECRET }),
  ]);
  const browser = await launchBrowser();
  t.after(() => browser.close());

  await t.test('keycloak-connect: login, roles, and logout', async () => {
    const store = new session.MemoryStore();
    const kc = new KeycloakConnect({ store }, {
      realm: 'example',
      'auth-server-url': realm.address,
      resource: 'keycloak-connect',
      credentials: { secret: SECRET },
      'confidential-port': 0,
      'ssl-required': 'external',
      'bearer-only': false,
    } as KeycloakConnect.KeycloakConfig);
    const app = applications.keycloak;
    app.use(session({ secret: SECRET, resave: false, saveUninitialized: true, store }));
    app.use(kc.middleware({ logout: '/logout', admin: '/' }));
    app.get('/', (_request, response) => void response.send('<h1>open to all</h1>'));
    app.get('/protected', kc.protect(), (_request, response) => void response.send('<h1>for users</h1>'));
    app.get('/role', kc.protect('realm:writer'), (_request, response) => void response.send('writer'));
    app.get('/no-role', kc.protect('realm:nobody-has-it'), (_request, response) => void response.send('no'));
    const { origin } = keycloak;
    const page = await browser.newPage();
    await page.goto(`${origin}/role`);
    await fillLogin(page);
    await page.getByText('writer').waitFor();
    assert.equal((await page.goto(`${origin}/no-role`))?.status(), 403);
    await page.context().clearCookies();
    await logInAndOut(page, {
      protected: `${origin}/protected`,
      logout: `${origin}/logout`,
      open: `${origin}/`,
    });
    await page.context().close();
  });

  await t.test('express-openid-connect: login, userinfo, and logout', async () => {
    const { origin } = openid;
    const app = applications.openid;
    app.use(
      expressOpenid.auth({
        issuerBaseURL: realm.issuer,
        baseURL: origin,
        clientID: 'express-openid-connect',
        clientSecret: SECRET,
        secret: SECRET,
        authRequired: false,
        idpLogout: true,
        httpTimeout: 30_000,
        authorizationParams: { response_type: 'code', scope: 'openid profile email' },
      }),
    );
    app.get('/', (_request, response) => void response.send('<h1>open to all</h1>'));
    app.get('/protected', expressOpenid.requiresAuth(), async (request, response) => {
      const user = await request.oidc.fetchUserInfo();
      response.setHeader('x-user', String(user['preferred_username'])).send('<h1>for users</h1>');
    });
    const page = await browser.newPage();
    const answer = await logInAndOut(page, {
      protected: `${origin}/protected`,
      logout: `${origin}/logout`,
      open: `${origin}/`,
    });
    assert.equal(answer?.headers()['x-user'], 'alice');
    await page.context().close();
  });

  await t.test("Debian's mod_auth_openidc: login with PKCE, the user's name, and logout", async (t) => {
    if (apache === undefined) return t.skip('needs apache2 with mod_auth_openidc');
    const { origin } = apache;
    await apache.start({
      OIDCProviderMetadataURL: `${realm.issuer}/.well-known/openid-configuration`,
      OIDCClientID: 'mod_auth_openidc',
      OIDCClientSecret: SECRET,
      OIDCRedirectURI: `${origin}/protected/callback`,
      OIDCCryptoPassphrase: SECRET,
      OIDCScope: 'openid profile email',
      OIDCRemoteUserClaim: 'preferred_username',
      OIDCPKCEMethod: 'S256',
    });
    const page = await browser.newPage();
    const answer = await logInAndOut(page, {
      protected: `${origin}/protected/`,
      logout: `${origin}/protected/callback?logout=${encodeURIComponent(`${origin}/`)}`,
      open: `${origin}/`,
    });
    assert.equal(answer?.headers()['x-user'], 'alice');
    await page.context().close();
  });
});
