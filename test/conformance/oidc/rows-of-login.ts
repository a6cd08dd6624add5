import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import type { Platform } from './platform.ts';
import { exchange, tokensOf } from './token-client.ts';
import { answerOf, codeOf, isLoginPage, type Mode, shown, textOf, UserAgent } from './user-agent.ts';

/**
 * Defines the tests of Basic OP for the authorization request and the login. Form Post OP runs them in its response
 * mode.
 */
export function rowsOfLogin(at: () => Platform, mode: Mode): void {
  const agent = () => new UserAgent(at(), mode);
  const idTokenOf = async (fields: Readonly<Record<string, string>>) => {
    const tokens = await tokensOf(at(), at().one, fields);
    return at().verifyIdToken(at().one, tokens['id_token']);
  };

  test('reports a missing response_type to the client with its state (RFC 6749 4.1.2.1)', async () => {
    const { one, issuer } = at();
    const { to, fields, how } = answerOf(await agent().authorize(one, { response_type: undefined }));
    assert.equal(to, one.redirectUri);
    assert.equal(how, mode);
    assert.deepEqual(fields, {
      error: 'invalid_request',
      error_description: 'Missing parameter: response_type',
      state: 'a-state',
      iss: issuer,
    });
  });

  test('shows an error page for an unregistered redirect_uri, and never redirects to it (Core 3.1.2.1, RFC 6749 3.1.2.3)', async () => {
    const { one, two } = at();
    const query = `${one.redirectUri}?foo=bar`;
    for (const uri of [`${one.redirectUri}/a8F3k`, query, `${one.redirectUri}/`, two.redirectUri]) {
      const page = shown(await agent().authorize(one, { redirect_uri: uri }));
      assert.equal(page.status, 400, uri);
      assert.match(textOf(page), /Invalid parameter: redirect_uri/);
    }
    const without = shown(await agent().authorize(one, { redirect_uri: undefined }));
    assert.equal(without.status, 400);
  });

  test('compares the whole query of a registered redirect_uri, and keeps it in the redirect (Core 3.1.2.1)', async () => {
    const web = at().web.origin;
    const uri = `${web}/query-${mode}/cb?one=1&two=2`;
    const client = await at().addClient(`query-${mode}`, { redirectUris: [uri] });
    const url = agent().authorizationUrl(client, { redirect_uri: uri, prompt: 'none' });
    const answer = await agent().jar.fetch(String(url));
    if (mode === 'query') {
      const location = answer.headers.get('location')!;
      assert.ok(location.startsWith(`${uri}&`), location);
    } else assert.ok((await answer.text()).includes(`action="${uri.replace('&', '&amp;')}"`));
    for (const other of [uri.replace('one=1', 'one=2'), uri.replace(/\?.*/, ''), `${uri}&three=3`])
      assert.equal(shown(await agent().authorize(client, { redirect_uri: other })).status, 400, other);
  });

  test('prompt=none results in login_required if the user is not logged in (Core 3.1.2.6)', async () => {
    const { one, issuer } = at();
    const { fields, how } = answerOf(await agent().authorize(one, { prompt: 'none' }));
    assert.equal(how, mode);
    assert.deepEqual(fields, { error: 'login_required', state: 'a-state', iss: issuer });
  });

  test('prompt=none returns a code for the same sub and auth_time if the user is logged in (Core 3.1.2.1)', async () => {
    const browser = agent();
    const first = await idTokenOf(await browser.logInAt(at().one));
    await pass(1100);
    const second = await idTokenOf(codeOf(await browser.authorize(at().one, { prompt: 'none' })));
    assert.equal(second.sub, first.sub);
    assert.equal(second['auth_time'], first['auth_time']);
    assert.equal(typeof second['auth_time'], 'number');
  });

  test('stores a consent, which is also valid for prompt=none (Core 3.1.2.1, 3.1.2.4)', async () => {
    const client = await at().addClient(`agreed-${mode}`, { consentRequired: true });
    const browser = agent();
    const scope = 'openid profile';
    const page = shown(await browser.logIn(await browser.authorize(client, { scope })));
    const silent = await agent().authorize(client, { scope, prompt: 'none' });
    assert.equal(answerOf(silent).fields['error'], 'login_required');
    const before = await browser.authorize(client, { scope, prompt: 'none' });
    assert.match(answerOf(before).fields['error']!, /^(login|consent|interaction)_required$/);
    const action = /<form[^>]*action="([^"]+)"/.exec(page.markup)![1]!.replaceAll('&amp;', '&');
    codeOf(await browser.open(action, { accept: 'Yes' }));
    codeOf(await browser.authorize(client, { scope, prompt: 'none' }));
    codeOf(await browser.authorize(client, { scope }));
  });

  test('prompt=login requires a new login with a later auth_time (Core 3.1.2.1)', async () => {
    const browser = agent();
    const first = await idTokenOf(await browser.logInAt(at().one));
    await pass(1100);
    const page = await browser.authorize(at().one, { prompt: 'login' });
    assert.ok(isLoginPage(page));
    assert.match(textOf(shown(page)), /Please sign in again to continue/);
    const second = await idTokenOf(codeOf(await browser.logIn(page)));
    assert.equal(second.sub, first.sub);
    assert.ok((second['auth_time'] as number) > (first['auth_time'] as number));
  });

  test('max_age=1 after two seconds requires a new login with a later auth_time (Core 2, 3.1.2.1)', async () => {
    const browser = agent();
    const first = await idTokenOf(await browser.logInAt(at().one));
    await pass(2000);
    const page = await browser.authorize(at().one, { max_age: '1' });
    assert.ok(isLoginPage(page));
    const second = await idTokenOf(codeOf(await browser.logIn(page)));
    assert.ok((second['auth_time'] as number) > (first['auth_time'] as number));
  });

  test('max_age=10000 does not show a login form, and keeps the auth_time (Core 2, 3.1.2.1)', async () => {
    const browser = agent();
    const first = await idTokenOf(await browser.logInAt(at().one));
    const second = await idTokenOf(codeOf(await browser.authorize(at().one, { max_age: '10000' })));
    assert.equal(typeof second['auth_time'], 'number');
    assert.equal(second['auth_time'], first['auth_time']);
  });

  test('id_token_hint with prompt=none returns a code only for that user (Core 3.1.2.1)', async () => {
    const [browser, other] = [agent(), agent()];
    const tokens = await tokensOf(at(), at().one, await browser.logInAt(at().one));
    const hint = { prompt: 'none', id_token_hint: tokens['id_token'] };
    const claims = await idTokenOf(codeOf(await browser.authorize(at().one, hint)));
    assert.equal(claims.sub, (await at().verifyIdToken(at().one, tokens['id_token'])).sub);
    await other.logInAt(at().one, {}, 'bob');
    assert.equal(answerOf(await other.authorize(at().one, hint)).fields['error'], 'login_required');
    assert.equal(answerOf(await agent().authorize(at().one, hint)).fields['error'], 'login_required');
  });

  test('an id_token_hint may have expired (Core 3.1.2.1)', async () => {
    const client = await at().addClient(`brief-${mode}`, { attributes: { 'access.token.lifespan': '1' } });
    const browser = agent();
    const tokens = await tokensOf(at(), client, await browser.logInAt(client));
    const { exp } = decodeJwt(tokens['id_token']!);
    await pass(1600);
    assert.ok(exp! * 1000 < Date.now());
    codeOf(await browser.authorize(client, { prompt: 'none', id_token_hint: tokens['id_token'] }));
  });

  test('the acr is one of the requested acr_values, if discovery announces them (Core 3.1.2.1)', async () => {
    const { issuer, one } = at();
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const { acr_values_supported: values } = metadata as { acr_values_supported: string[] };
    const browser = agent();
    const request = { acr_values: values.join(' ') };
    const first = await idTokenOf(await browser.logInAt(one, request));
    const second = await idTokenOf(codeOf(await browser.authorize(one, request)));
    for (const { acr } of [first, second]) assert.ok(values.includes(acr as string), String(acr));
  });

  test('accepts an authorization request as a POST with a form (Core 3.1.2.1)', async () => {
    const browser = agent();
    const url = browser.authorizationUrl(at().one);
    const page = await browser.open(`${at().protocol}/auth`, Object.fromEntries(url.searchParams));
    await idTokenOf(codeOf(await browser.logIn(page)));
  });

  test('the code flow works without a nonce, and the ID token then has none (Core 3.1.2.1)', async () => {
    const claims = await idTokenOf(await agent().logInAt(at().one, { nonce: undefined }));
    assert.equal(claims['nonce'], undefined);
  });

  test('processes an unsigned request object, whose redirect_uri takes precedence (Core 6.1, 6.3)', async () => {
    const { one, issuer, web } = at();
    const unsigned = (claims: object) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'none' })}.${part(claims)}.`;
    };
    const inside = {
      iss: one.clientId,
      aud: issuer,
      response_type: 'code',
      client_id: one.clientId,
      redirect_uri: one.redirectUri,
      scope: 'openid',
      state: 'inner',
      nonce: 'inner',
      ...(mode === 'form_post' ? { response_mode: mode } : {}),
    };
    const outside = { state: undefined, redirect_uri: `${web.origin}/unregistered` };
    const browser = agent();
    const page = await browser.authorize(one, { ...outside, request: unsigned(inside) });
    const { to, fields } = answerOf(await browser.logIn(page));
    assert.equal(to, one.redirectUri);
    assert.equal(fields['state'], 'inner');
    assert.equal((await idTokenOf(fields))['nonce'], 'inner');
    const wrong = unsigned({ ...inside, redirect_uri: `${web.origin}/unregistered` });
    assert.equal(shown(await browser.authorize(one, { request: wrong })).status, 400);
  });

  test('rejects a code if the redirect_uri differs (RFC 6749 4.1.3)', async () => {
    const fields = await agent().logInAt(at().one);
    const { status, json } = await exchange(at(), at().one, fields, {
      redirect_uri: `${at().one.redirectUri}/x`,
    });
    assert.equal(status, 400);
    assert.equal(json.error, 'invalid_grant');
  });
}
