import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { decodeJwt, SignJWT } from 'jose';
import { confirm, isLoggedIn, type LoggedIn, logInAt, logoutUrl } from './logout-client.ts';
import { type Platform, startPlatform } from './platform.ts';
import type { TestClient } from './realm.ts';
import { askForTokens, tokensOf } from './token-client.ts';
import { answerOf, hasElement, shown, textOf, UserAgent } from './user-agent.ts';

/** A secret of 32 characters, which is long enough for an HMAC with SHA-256. */
const SECRET = 'a-client-secret-of-32-characters';

let platform: Platform;
let client: TestClient;
let after1: string;
let after2: string;
before(async () => {
  platform = await startPlatform();
  after1 = `${platform.web.origin}/goodbye`;
  after2 = `${platform.web.origin}/goodbye/two`;
  client = await platform.addClient('leaving', {
    secret: SECRET,
    attributes: { 'post.logout.redirect.uris': `${after1}##${after2}` },
  });
});
after(() => platform.stop());

const login = () => logInAt(platform, client);
const send = ({ agent }: LoggedIn, parameters: Readonly<Record<string, string>>) =>
  agent.open(logoutUrl(platform, parameters));

/** Checks that the page is an error page without a link, and that the user is still logged in. */
async function isRefused(user: LoggedIn, parameters: Readonly<Record<string, string>>, text: RegExp) {
  const page = shown(await send(user, parameters));
  assert.equal(page.status, 400);
  assert.match(textOf(page), text);
  assert.equal(await isLoggedIn(user, client), true);
}

describe('requirements of the profile RP-Initiated Logout OP', { concurrency: 4 }, () => {
  test('logs out and redirects without parameters if the request has a hint and a registered URI (RP-Initiated Logout 2, 3)', async () => {
    for (const uri of [after1, after2]) {
      const user = await login();
      const { to, fields } = answerOf(
        await send(user, { id_token_hint: user.idToken, post_logout_redirect_uri: uri }),
      );
      assert.deepEqual([to, fields], [uri, {}]);
      assert.equal(await isLoggedIn(user, client), false);
    }
  });

  test('returns a state with special characters unchanged, and adds no other parameter (RP-Initiated Logout 2, 3)', async () => {
    for (const state of ["(,]=[*>/?\\'~)<^%}", '', 'a b+c&d=e#f', 'ü'.repeat(64)]) {
      const user = await login();
      const request = { id_token_hint: user.idToken, post_logout_redirect_uri: after1, state };
      const answer = await user.agent.jar.fetch(logoutUrl(platform, request));
      assert.equal(answer.status, 302);
      const location = new URL(answer.headers.get('location')!);
      assert.deepEqual([...location.searchParams], [['state', state]]);
      assert.equal(decodeURIComponent(location.search.slice('?state='.length)), state);
      assert.equal(location.origin + location.pathname, after1);
      assert.equal(await isLoggedIn(user, client), false);
    }
  });

  test('accepts a logout as a POST with a form (RP-Initiated Logout 2)', async () => {
    const user = await login();
    const outcome = await user.agent.open(logoutUrl(platform), {
      id_token_hint: user.idToken,
      post_logout_redirect_uri: after1,
      state: 'posted',
    });
    assert.deepEqual(answerOf(outcome).fields, { state: 'posted' });
    assert.equal(await isLoggedIn(user, client), false);
  });

  test('does not redirect to an unregistered URI, or to a registered URI with an additional query (RP-Initiated Logout 3)', async () => {
    for (const uri of [
      `${after1}?foo=bar`,
      `${after1}/`,
      `${platform.web.origin}/other`,
      client.redirectUri,
    ]) {
      const user = await login();
      const request = { id_token_hint: user.idToken, post_logout_redirect_uri: uri };
      await isRefused(user, request, /Invalid redirect uri/);
    }
  });

  test('the value + of post.logout.redirect.uris represents the redirect URIs (RP-Initiated Logout 3)', async () => {
    const plus = await platform.addClient('plus', { attributes: { 'post.logout.redirect.uris': '+' } });
    const user = await logInAt(platform, plus);
    const request = { id_token_hint: user.idToken, post_logout_redirect_uri: plus.redirectUri };
    assert.equal(answerOf(await send(user, request)).to, plus.redirectUri);
  });

  test('rejects a hint that is not an ID token, or is signed with alg none or with the client secret (HS256) (RP-Initiated Logout 2, 4)', async () => {
    const user = await login();
    const claims = decodeJwt(user.idToken);
    const [, payload] = user.idToken.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(SECRET));
    const changed = `${user.idToken.slice(0, -20)}${'A'.repeat(20)}`;
    for (const hint of [`${none}.${payload}.`, forged, changed, user.accessToken, 'no-token']) {
      const request = { id_token_hint: hint, post_logout_redirect_uri: after1 };
      await isRefused(user, request, /Invalid parameter: id_token_hint/);
    }
  });

  test('does not redirect if the request has neither a hint nor a client_id (RP-Initiated Logout 2)', async () => {
    const user = await login();
    for (const state of [{}, { state: 'x' }])
      await isRefused(
        user,
        { post_logout_redirect_uri: after1, ...state },
        /Missing parameters: id_token_hint/,
      );
  });

  test('asks for confirmation of a logout without parameters or with only a state (RP-Initiated Logout 2, 6)', async () => {
    for (const parameters of [{}, { state: 'x' }]) {
      const user = await login();
      const page = shown(await send(user, parameters));
      assert.equal(page.status, 200);
      assert.match(textOf(page), /Do you want to sign out\?/);
      assert.ok(hasElement(page, 'kc-logout'));
      assert.equal(await isLoggedIn(user, client), true);
      const done = shown(await confirm(user, page));
      assert.equal(done.status, 200);
      assert.match(textOf(done), /You are signed out/);
      assert.equal(await isLoggedIn(user, client), false);
    }
  });

  test('logs out and shows a page if the request has only a hint (RP-Initiated Logout 2)', async () => {
    const user = await login();
    const page = shown(await send(user, { id_token_hint: user.idToken }));
    assert.equal(page.status, 200);
    assert.match(textOf(page), /You are signed out/);
    assert.equal(await isLoggedIn(user, client), false);
  });

  test('accepts an expired ID token as a hint (RP-Initiated Logout 4)', async () => {
    const brief = await platform.addClient('brief', {
      attributes: { 'access.token.lifespan': '1', 'post.logout.redirect.uris': after1 },
    });
    const user = await logInAt(platform, brief);
    await pass(1600);
    assert.ok(decodeJwt(user.idToken).exp! * 1000 < Date.now());
    const request = { id_token_hint: user.idToken, post_logout_redirect_uri: after1 };
    assert.equal(answerOf(await send(user, request)).to, after1);
    assert.equal(await isLoggedIn(user, brief), false);
  });

  test('accepts an ID token with typ as a hint (RP-Initiated Logout 2)', async () => {
    const usual = await platform.addClient('usual', { attributes: { 'idkit.lean.id.token': 'false' } });
    const user = await logInAt(platform, usual);
    shown(await send(user, { id_token_hint: user.idToken }));
    assert.equal(await isLoggedIn(user, usual), false);
  });

  test('after the logout, prompt=none results in login_required, and offline tokens remain valid (RP-Initiated Logout 2)', async () => {
    const agent = new UserAgent(platform);
    const fields = await agent.logInAt(client, { scope: 'openid offline_access' });
    const tokens = await tokensOf(platform, client, fields);
    await agent.open(logoutUrl(platform, { id_token_hint: tokens['id_token']! }));
    const { fields: silent } = answerOf(await agent.authorize(client, { prompt: 'none' }));
    assert.equal(silent['error'], 'login_required');
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens['refresh_token']! };
    assert.equal((await askForTokens(platform, client, refresh)).status, 200);
  });
});
