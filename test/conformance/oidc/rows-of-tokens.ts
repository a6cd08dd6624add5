import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { form } from '../../http/service.ts';
import type { Platform } from './platform.ts';
import { ALICE } from './realm.ts';
import { askForTokens, basic, exchange, jsonOf, tokensOf, userInfo } from './token-client.ts';
import { type Mode, UserAgent } from './user-agent.ts';

/** Defines the tests of Basic OP for tokens and user info. */
export function rowsOfTokens(at: () => Platform, mode: Mode): void {
  const agent = () => new UserAgent(at(), mode);

  test('rejects a second use of a code with invalid_grant, and revokes the first token (RFC 6749 4.1.2, 10.5)', async () => {
    const { one } = at();
    const fields = await agent().logInAt(one);
    const tokens = await tokensOf(at(), one, fields);
    assert.equal((await userInfo(at(), tokens)).status, 200);
    for (const wait of [0, 1500]) {
      await pass(wait);
      const { status, json } = await exchange(at(), one, fields);
      assert.equal(status, 400);
      assert.deepEqual(json, { error: 'invalid_grant', error_description: 'Code not valid' });
    }
    assert.equal((await userInfo(at(), tokens)).status, 401);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens['refresh_token']! };
    assert.equal((await askForTokens(at(), one, refresh)).json.error, 'invalid_grant');
  });

  test('a client can use both client_secret_basic and client_secret_post (Core 9, RFC 6749 2.3.1)', async () => {
    const { protocol } = at();
    for (const client of [at().one, at().two]) {
      const request = async () => ({
        grant_type: 'authorization_code',
        redirect_uri: client.redirectUri,
        code: (await agent().logInAt(client))['code']!,
      });
      const credentials = { client_id: client.clientId, client_secret: client.secret };
      const posted = await fetch(`${protocol}/token`, form({ ...(await request()), ...credentials }));
      assert.equal((await jsonOf(posted)).status, 200);
      assert.equal((await askForTokens(at(), client, await request())).status, 200);
      const wrong = await askForTokens(at(), { ...client, secret: 'wrong' }, await request());
      assert.equal(wrong.status, 401);
      assert.match(wrong.json.error, /^(invalid_client|unauthorized_client)$/);
    }
  });

  test('a refresh with offline_access keeps iss, sub, aud, azp and auth_time, with a newer iat (Core 11, 12.2)', async () => {
    const { one, two } = at();
    const request = { scope: 'openid offline_access', prompt: 'consent' };
    const tokens = await tokensOf(at(), one, await agent().logInAt(one, request));
    const first = await at().verifyIdToken(one, tokens['id_token']);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens['refresh_token']! };
    const foreign = await askForTokens(at(), two, refresh);
    assert.equal(foreign.status, 400);
    assert.equal(foreign.json.error, 'invalid_grant');
    assert.equal(
      foreign.json.error_description,
      "Invalid refresh token. Token client and authorized client don't match",
    );
    await pass(1100);
    const { status, json } = await askForTokens(at(), one, refresh);
    assert.equal(status, 200, JSON.stringify(json));
    const second = await at().verifyIdToken(one, json.id_token);
    for (const name of ['iss', 'sub', 'aud', 'azp', 'auth_time'])
      assert.deepEqual(second[name], first[name], name);
    assert.ok(second.iat! > first.iat!);
    assert.equal((await userInfo(at(), json)).status, 200);
  });

  test('user info accepts a token in the header of a GET or POST, or in a form (Core 5.3.1, RFC 6750 2.2)', async () => {
    const { one, protocol } = at();
    const { access_token: token = '' } = await tokensOf(at(), one, await agent().logInAt(one));
    const headers = { authorization: `Bearer ${token}` };
    const url = `${protocol}/userinfo`;
    const answers = await Promise.all([
      fetch(url, { headers }),
      fetch(url, { method: 'POST', headers }),
      fetch(url, form({ access_token: token })),
    ]);
    const [first, ...others] = await Promise.all(answers.map(jsonOf));
    assert.equal(first!.status, 200);
    assert.equal(typeof first!.json.sub, 'string');
    for (const { status, json } of others) assert.deepEqual([status, json], [200, first!.json]);
  });

  test('user info contains neither nulls nor empty strings (Core 5.3.2)', async () => {
    const { one } = at();
    const scope = 'openid profile email address phone';
    const fields = await agent().logInAt(one, { scope }, 'bob');
    const { json } = await userInfo(at(), await tokensOf(at(), one, fields));
    assert.equal(json.name, 'Bob Baker');
    for (const [name, value] of Object.entries(json)) {
      assert.notEqual(value, null, name);
      assert.notEqual(value, '', name);
      assert.notDeepEqual(value, {}, name);
    }
  });

  const { attributes: of } = ALICE;
  const SCOPES: Readonly<Record<string, object>> = {
    profile: {
      name: 'Alice Archer',
      given_name: 'Alice',
      family_name: 'Archer',
      middle_name: of.middleName[0],
      nickname: of.nickname[0],
      preferred_username: 'alice',
      profile: of.profile[0],
      picture: of.picture[0],
      website: of.website[0],
      gender: of.gender[0],
      birthdate: of.birthdate[0],
      zoneinfo: of.zoneinfo[0],
      locale: of.locale[0],
      updated_at: Number(of.updatedAt[0]),
    },
    email: { email: ALICE.email, email_verified: true },
    address: {
      address: {
        street_address: of.street[0],
        locality: of.locality[0],
        region: of.region[0],
        postal_code: of.postal_code[0],
        country: of.country[0],
        formatted: of.formatted[0],
      },
    },
    phone: { phone_number: of.phoneNumber[0], phone_number_verified: true },
  };
  for (const [scope, claims] of Object.entries(SCOPES))
    test(`scope ${scope}: user info has every standard claim that the scope covers and the user has, with its type (Core 5.1, 5.4)`, async () => {
      const { one } = at();
      const fields = await agent().logInAt(one, { scope: `openid ${scope}` });
      const tokens = await tokensOf(at(), one, fields);
      const { json } = await userInfo(at(), tokens);
      const { sub, ...others } = json;
      assert.equal(sub, (await at().verifyIdToken(one, tokens['id_token'])).sub);
      assert.deepEqual(others, claims);
    });

  test('scope email in the code flow: user info has the e-mail, but the ID token has neither the e-mail nor typ (Core 2, 5.4)', async () => {
    const { one } = at();
    const fields = await agent().logInAt(one, { scope: 'openid profile email address phone' });
    const tokens = await tokensOf(at(), one, fields);
    assert.equal((await userInfo(at(), tokens)).json.email, ALICE.email);
    const claims = await at().verifyIdToken(one, tokens['id_token']);
    const allowed = ['iss', 'aud', 'exp', 'iat', 'sub', 'nonce', 'at_hash', 'acr', 'auth_time'];
    assert.deepEqual(
      Object.keys(claims).filter((name) => !allowed.includes(name)),
      ['jti', 'azp', 'sid'],
    );
  });

  test('the parameter `claims` adds name to user info without scope profile, but not to the ID token (Core 5.5)', async () => {
    const { one } = at();
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const tokens = await tokensOf(at(), one, await agent().logInAt(one, { claims }));
    const { sub: _sub, ...others } = (await userInfo(at(), tokens)).json;
    assert.deepEqual(others, { name: 'Alice Archer' });
    assert.equal((await at().verifyIdToken(one, tokens['id_token']))['name'], undefined);
  });

  test('a client with default settings gets ID tokens with typ and e-mail, as from Keycloak, and cannot use the parameter `claims`', async () => {
    const client = await at().addClient(`plain-${mode}`, {
      attributes: { 'idkit.lean.id.token': 'false' },
      protocolMappers: [],
    });
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const request = { scope: 'openid email', claims };
    const tokens = await tokensOf(at(), client, await agent().logInAt(client, request));
    const id = await at().verifyIdToken(client, tokens['id_token']);
    assert.deepEqual([id['typ'], id['email']], ['ID', ALICE.email]);
    assert.equal((await userInfo(at(), tokens)).json.name, undefined);
  });

  test('decodes client credentials that were form-urlencoded before base64 (RFC 6749 2.3.1)', async () => {
    const { one } = at();
    const plain = Buffer.from(`${one.clientId}:${one.secret}`).toString('base64');
    assert.notEqual(basic(one), `Basic ${plain}`);
    assert.equal((await exchange(at(), one, await agent().logInAt(one))).status, 200);
  });
}
