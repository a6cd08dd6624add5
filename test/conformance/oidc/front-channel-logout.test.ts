import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { Browser } from 'playwright-core';
import { launchBrowser, missingBrowser } from '../../http/pages/chromium.ts';
import { readElements } from '../../http/pages/read-page.ts';
import { isLoggedIn, logInAt, logoutUrl } from './logout-client.ts';
import { type Platform, startPlatform } from './platform.ts';
import { fillLogin, openPage } from './real-browser.ts';
import type { TestClient } from './realm.ts';
import { tokensOf } from './token-client.ts';
import { answerOf, codeOf, shown, textOf, UserAgent } from './user-agent.ts';

const skip = missingBrowser();

let platform: Platform;
let browser: Browser;
let goodbye: string;
before(async () => {
  platform = await startPlatform();
  goodbye = `${platform.web.origin}/goodbye`;
  if (skip === undefined) browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform.stop();
});

const framed = (clientId: string, attributes: Readonly<Record<string, string>> = {}): Promise<TestClient> =>
  platform.addClient(clientId, {
    frontchannelLogout: true,
    attributes: {
      'frontchannel.logout.url': `${platform.web.origin}/${clientId}/logout`,
      'frontchannel.logout.session.required': 'true',
      'post.logout.redirect.uris': goodbye,
      ...attributes,
    },
  });

const requestOf = (idToken: string) => ({
  id_token_hint: idToken,
  post_logout_redirect_uri: goodbye,
  state: 's',
});

describe('requirements of the profile Front-Channel Logout OP', () => {
  test('discovery announces front-channel logout with session ids (Front-Channel Logout 3)', async () => {
    const answer = await fetch(`${platform.issuer}/.well-known/openid-configuration`);
    const document = (await answer.json()) as Record<string, unknown>;
    assert.equal(document['frontchannel_logout_supported'], true);
    assert.equal(document['frontchannel_logout_session_supported'], true);
  });

  test('the page has a link to continue, and a frame whose address adds only iss and sid (Front-Channel Logout 2)', async () => {
    const client = await framed('framed');
    const user = await logInAt(platform, client);
    const page = shown(await user.agent.open(logoutUrl(platform, requestOf(user.idToken))));
    assert.equal(page.status, 200);
    assert.match(page.headers.get('cache-control')!, /no-store/);
    const elements = readElements(page.markup);
    const [frame, ...others] = elements.filter(({ tag }) => tag === 'iframe');
    assert.equal(others.length, 0);
    const url = new URL(frame!.attributes['src']!);
    assert.equal(url.origin + url.pathname, `${platform.web.origin}/framed/logout`);
    const sid = decodeJwt(user.idToken)['sid'];
    assert.deepEqual(Object.fromEntries(url.searchParams), { iss: platform.issuer, sid });
    const policy = page.headers.get('content-security-policy')!;
    assert.ok(policy.includes(`frame-src ${platform.web.origin};`), policy);
    const link = elements.find(({ attributes }) => attributes['id'] === 'continue')!;
    assert.equal(link.attributes['href'], `${goodbye}?state=s`);
    assert.equal(await isLoggedIn(user, client), false);
  });

  test('keeps the query of the logout URL, and adds parameters only if the client has session.required (Front-Channel Logout 2)', async () => {
    const url = `${platform.web.origin}/bare/logout?tenant=7`;
    const client = await framed('bare', {
      'frontchannel.logout.url': url,
      'frontchannel.logout.session.required': 'false',
    });
    const user = await logInAt(platform, client);
    const page = shown(await user.agent.open(logoutUrl(platform, requestOf(user.idToken))));
    const frame = readElements(page.markup).find(({ tag }) => tag === 'iframe')!;
    assert.equal(frame.attributes['src'], url);
  });

  test('a client without frontchannelLogout does not get a frame (Front-Channel Logout 2)', async () => {
    const client = await platform.addClient('unframed', {
      frontchannelLogout: false,
      attributes: {
        'frontchannel.logout.url': `${platform.web.origin}/unframed/logout`,
        'post.logout.redirect.uris': goodbye,
      },
    });
    const user = await logInAt(platform, client);
    assert.equal(answerOf(await user.agent.open(logoutUrl(platform, requestOf(user.idToken)))).to, goodbye);
  });

  test('in Chromium, every frame loads before the browser continues (Front-Channel Logout 2, 3)', {
    skip,
  }, async () => {
    const [slow, quick] = await Promise.all([framed('slow'), framed('quick')]);
    let ended = 0;
    platform.web.serve('/slow/logout', async (_request, response) => {
      await pass(1000);
      ended = Date.now();
      response.end('<!DOCTYPE html><title>out</title>');
    });
    const agent = new UserAgent(platform);
    const { page, problems, close } = await openPage(browser);
    await page.goto(String(agent.authorizationUrl(slow)));
    await fillLogin(page);
    await page.waitForURL(`${slow.redirectUri}?**`);
    const fields = Object.fromEntries(new URL(page.url()).searchParams);
    const { id_token: idToken = '' } = await tokensOf(platform, slow, fields);
    await page.goto(String(agent.authorizationUrl(quick)));
    await page.waitForURL(`${quick.redirectUri}?**`);
    await tokensOf(platform, quick, Object.fromEntries(new URL(page.url()).searchParams));

    await page.goto(logoutUrl(platform, requestOf(idToken)), { waitUntil: 'commit' });
    await page.waitForURL(`${goodbye}?state=s`);
    const [back] = platform.web.receivedAt('/goodbye');
    const sid = decodeJwt(idToken)['sid'];
    for (const name of ['slow', 'quick']) {
      const [call, ...more] = platform.web.receivedAt(`/${name}/logout`);
      assert.equal(more.length, 0);
      assert.deepEqual(Object.fromEntries(call!.url.searchParams), { iss: platform.issuer, sid });
      assert.ok(call!.at < back!.at);
    }
    assert.ok(ended > 0 && ended <= back!.at, 'the browser continued before the frame had loaded');
    assert.deepEqual(problems, []);
    await page.goto(String(agent.authorizationUrl(slow, { prompt: 'none' })));
    assert.equal(new URL(page.url()).searchParams.get('error'), 'login_required');
    await close();
  });

  test('if there is no redirect URI, the page remains and shows that the user is logged out (Front-Channel Logout 2)', async () => {
    const client = await framed('staying');
    const user = await logInAt(platform, client);
    const again = codeOf(await user.agent.authorize(client, { prompt: 'none' }));
    assert.ok(again['code']);
    const page = shown(await user.agent.open(logoutUrl(platform, { id_token_hint: user.idToken })));
    assert.ok(readElements(page.markup).some(({ tag }) => tag === 'iframe'));
    assert.match(textOf(page), /sign(ed|ing) out/i);
    assert.ok(!readElements(page.markup).some(({ attributes }) => attributes['id'] === 'continue'));
  });
});
